// Downloads one file of a release. After a connection that broke off the download continues where it ended, if the
// file on the server is still the same.
import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FetchStream, Problem } from '#core';
import { errorText, reasonText } from '#kit/error-text';
import { GuardedDirectory, giveFile } from '#kit/guarded-directory';
import { networkFault, statusFault } from '#kit/server-fault';
import type { Digest, DownloadOptions, InstallUser, StepProgress } from './contract.ts';
import { diskFault } from './disk-space.ts';
import type { VendorFetch } from './vendor-fetch.ts';

const GIB = 2 ** 30;
const MAX_BYTES = 4 * GIB;
/** How long the server may be silent, before the answer and between two parts of it. */
const SILENCE_MS = 30_000;
/** A connection that brings less than this in a minute is given up like a silent one. */
const SLOW_BYTES = 60 * 1024;
const SLOW_MS = 60_000;
const TRIES = 5;
const PAUSE_MS = 1_000;
/** A connection that has come this much further than any before starts the counting of tries anew. */
const WORTH_BYTES = 2 ** 20;

export interface DownloadRequest extends DownloadOptions {
  readonly url: string;
  /** Absolute path of the directory for the file. */
  readonly directory: string;
  readonly user: InstallUser;
  readonly signal: AbortSignal;
  readonly fetch: VendorFetch;
  /** See `Host.paced`. */
  paced(ms: number): number;
  needSpace(bytes: number): Promise<void>;
  report(progress: StepProgress): void;
  /** A monotonic clock. Default `performance.now`. */
  nowMs?(): number;
}

/** Resolves with the path of the file. Throws a Problem: 502 or 504 for the network, 500, 507 or 409 for the disk. */
export async function download(request: DownloadRequest): Promise<string> {
  const file = path.join(request.directory, path.basename(request.name));
  await GuardedDirectory.at(file, async (directory, name) => {
    const handle = await directory.openFile(name, 'create', 0o644);
    try {
      await giveFile(handle, request.user, { isNew: true });
      await receive(request, handle);
    } finally {
      await handle.close();
    }
  }).catch(error => {
    request.signal.throwIfAborted();
    return tellUnwritten(file)(error);
  });
  return file;
}

/** What has been received so far. */
interface Received {
  bytes: number;
  hashes: ReadonlyMap<Digest['algorithm'], Hash>;
  /** The ETag or modification time by which the server recognises the same content. */
  tag: string | undefined;
  /** Whether it comes from several connections without a tag, which may have sent different contents. */
  isPieced: boolean;
}

async function receive(request: DownloadRequest, handle: FileHandle): Promise<void> {
  const received: Received = { bytes: 0, hashes: newHashes(request), tag: undefined, isPieced: false };
  let farthestBytes = 0;
  for (let tries = 1; ; tries += 1) {
    try {
      await receiveOn(request, handle, received);
      checkDigests(request, received);
      return;
    } catch (error) {
      request.signal.throwIfAborted();
      if (error instanceof Problem) throw error;
      if (received.bytes - farthestBytes >= WORTH_BYTES) {
        tries = 1;
        farthestBytes = received.bytes;
      }
      if (tries >= TRIES) throw faultOf(request, error);
    }
    await delay(request.paced(PAUSE_MS * tries), undefined, { signal: request.signal });
  }
}

/** Throws a Problem for wrong content, or an Error, for another try, when it may be mixed from two contents. */
function checkDigests(request: DownloadRequest, received: Received): void {
  const { name, url } = request;
  const found = new Map([...received.hashes].map(([algorithm, hash]) => [algorithm, hash.digest('hex')]));
  const wrong = digestsOf(request).find(({ algorithm, hex }) => found.get(algorithm) !== hex.toLowerCase());
  if (wrong === undefined) return;
  if (received.isPieced) {
    received.bytes = 0;
    throw new Error(`${name} of ${hostOf(url)} was exchanged meanwhile`);
  }
  throw new Problem(
    502,
    `${name} from ${hostOf(url)} is not what its publisher says (${wrong.algorithm}); try again later, or choose another release`,
  );
}

/** Continues where an earlier connection ended. After an Error that is not a Problem the caller tries again. */
async function receiveOn(request: DownloadRequest, handle: FileHandle, received: Received): Promise<void> {
  const range = rangeAfter(request, received);
  if (range === undefined) await restart(request, handle, received);
  const headers = await headersOf(request);
  const answer = await request.fetch(request.url, {
    stream: true,
    headers: { ...headers, ...range },
    signal: request.signal,
    timeoutMs: SILENCE_MS,
    idleTimeoutMs: SILENCE_MS,
    // Counted below instead, over all connections: a file that is too large must not be tried again.
    maxBytes: Number.POSITIVE_INFINITY,
  });
  if (answer.status === 200 && received.bytes > 0) await restart(request, handle, received);
  const mismatch = mismatchOf(request, received, answer);
  if (mismatch !== undefined) {
    received.bytes = 0;
    throw new Error(mismatch);
  }
  if (answer.status !== 200 && answer.status !== 206) refuse(request, answer);
  received.isPieced ||= answer.status === 206 && received.tag === undefined;
  received.tag = tagOf(answer);
  await receiveBody(request, handle, received, answer);
}

/** The headers that ask for the rest of the file; undefined when it must be sent from its beginning. */
function rangeAfter(request: DownloadRequest, { bytes, tag }: Received): Readonly<Record<string, string>> | undefined {
  if (bytes === 0) return undefined;
  const range = `bytes=${bytes}-`;
  if (tag !== undefined) return { range, 'if-range': tag };
  // Without a tag, the digest shows in the end whether the content was the same.
  return digestsOf(request).length > 0 ? { range } : undefined;
}

/** Why an answer does not continue what was received; undefined when it does, or is no continuation. */
function mismatchOf({ url, name }: DownloadRequest, { bytes, tag }: Received, answer: FetchStream): string | undefined {
  if (answer.status === 416 && bytes > 0) return `${hostOf(url)} has less of ${name} than before`;
  if (answer.status !== 206) return undefined;
  if (startOf(answer) !== bytes) return `${hostOf(url)} continues ${name} at another place`;
  return isOther(tagOf(answer), tag) ? `${name} of ${hostOf(url)} was exchanged meanwhile` : undefined;
}

async function receiveBody(
  request: DownloadRequest,
  handle: FileHandle,
  received: Received,
  answer: FetchStream,
): Promise<void> {
  const { url, name, maxBytes = MAX_BYTES } = request;
  const length = Number(answer.headers['content-length'] ?? Number.NaN);
  const total = received.bytes + length;
  if (total > maxBytes) throw tooLarge(request, maxBytes);
  if (length > 0) await request.needSpace(length);
  const pace = paceOf(request);
  for await (const part of answer.body) {
    pace(part.length);
    received.bytes += part.length;
    if (received.bytes > maxBytes) throw tooLarge(request, maxBytes);
    for (const hash of received.hashes.values()) hash.update(part);
    await handle.appendFile(part).catch(tellUnwritten(path.join(request.directory, name)));
    const percent = Number.isNaN(total) ? null : Math.floor((100 * received.bytes) / total);
    request.report({ text: `downloads ${name}`, percent });
  }
  if (received.bytes < total) throw new Error(`${hostOf(url)} closed the connection before the end of ${name}`);
}

/** The headers. A failure to get them is an Error that is not a Problem, so that the download is tried again. */
async function headersOf({ headers }: DownloadRequest): Promise<Readonly<Record<string, string>> | undefined> {
  if (typeof headers !== 'function') return headers;
  return headers().catch((cause: unknown) => {
    throw new Error(errorText(cause), { cause });
  });
}

/** Returns a function that takes the size of each part, and throws an Error after a minute that brought too little. */
function paceOf({ url, name, nowMs = () => performance.now() }: DownloadRequest): (partBytes: number) => void {
  let sinceMs = nowMs();
  let bytes = 0;
  return partBytes => {
    bytes += partBytes;
    if (nowMs() - sinceMs < SLOW_MS) return;
    if (bytes < SLOW_BYTES) {
      const detail = `${hostOf(url)} gives ${name} at less than 1 KiB a second; try again later, or name a mirror in dumb.install_mirrors`;
      throw new Error(detail, { cause: new Problem(504, detail) });
    }
    sinceMs = nowMs();
    bytes = 0;
  };
}

async function restart(request: DownloadRequest, handle: FileHandle, received: Received): Promise<void> {
  await handle.truncate(0).catch(tellUnwritten(path.join(request.directory, path.basename(request.name))));
  received.bytes = 0;
  received.hashes = newHashes(request);
  received.isPieced = false;
}

function newHashes(request: DownloadRequest): Received['hashes'] {
  return new Map(digestsOf(request).map(({ algorithm }) => [algorithm, createHash(algorithm)]));
}

function digestsOf({ digest }: DownloadRequest): readonly Digest[] {
  return digest === undefined ? [] : [digest].flat();
}

function startOf({ headers }: FetchStream): number {
  return Number(/^bytes (\d{1,15})-/.exec(String(headers['content-range']).slice(0, 100))?.[1] ?? Number.NaN);
}

/** The strong ETag, else the modification time. A weak ETag does not promise the same bytes. */
function tagOf({ headers: { etag, 'last-modified': modified } }: FetchStream): string | undefined {
  if (typeof etag === 'string' && etag.startsWith('"')) return etag;
  return typeof modified === 'string' ? modified : undefined;
}

/**
 * Whether the tags show different contents, because some servers ignore `If-Range`. An ETag and a modification time
 * cannot be compared.
 */
function isOther(tag: string | undefined, before: string | undefined): boolean {
  if (tag === undefined || before === undefined || tag === before) return false;
  return tag.startsWith('"') === before.startsWith('"');
}

/** Throws a Problem; when another try may help, an Error with the Problem as its cause. */
function refuse({ url, name }: DownloadRequest, answer: FetchStream): never {
  const fault = statusFault(url, answer, name);
  throw answer.status >= 500 ? new Error(fault.message, { cause: fault }) : fault;
}

function faultOf({ url }: DownloadRequest, error: unknown): Problem {
  return error instanceof Error && error.cause instanceof Problem ? error.cause : networkFault(url, error);
}

function tooLarge({ url, name }: DownloadRequest, maxBytes: number): Problem {
  return new Problem(502, `${name} from ${hostOf(url)} is larger than ${maxBytes} bytes; choose another release`);
}

/** Turns an error of the disk into a Problem, because another connection would not help. */
function tellUnwritten(file: string): (error: unknown) => never {
  return error => {
    if (error instanceof Problem) throw error;
    const text = `${file} cannot be written: ${reasonText(error)}; see to its disk`;
    throw diskFault(path.dirname(file), error) ?? new Problem(500, text, { cause: error });
  };
}

function hostOf(url: string): string {
  return new URL(url).host;
}
