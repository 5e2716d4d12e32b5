// Reads a part of a log by position: only complete lines, so that redaction sees each secret whole, and never more than
// requested. Of a line that is longer than the part its end is shown. Pages of files that do not change are kept.
import { read as readWithCallback, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { restingVersion } from '#kit/file-version';
import { KeyBlock } from '#kit/key-block';
import { redact, secretSigns } from '#kit/redact';
import { MASK } from '#kit/redaction-words';
import { LARGE_TEXT_BYTES, readText } from '#kit/text-thread';
import { UNPRINTABLE } from '#kit/word-groups';

const read = promisify(readWithCallback);
const READ_LIMIT_MS = 5_000;
const NEWLINE = 0x0a;
/** How much of a line before its shown end is looked at, for a secret that the beginning of the end would divide. */
const LOOKED_BEFORE_BYTES = 64 * 1024;
/** The first line of a file that begins within a private key is shorter. */
const FIRST_LINE_BYTES = 4 * 1024;
/** Lines of private keys but the last are longer. */
const KEY_LINE_LENGTH = 16;
/** The lines of private keys but the last, in the widths of OpenSSL, OpenSSH and MIME. */
const KEY_LINE = /^(?:[A-Za-z\d+/]{64}|[A-Za-z\d+/]{70}|[A-Za-z\d+/]{76})$/;
/** After so many lines, or characters that are searched for secrets, the event loop gets a turn. */
const TURN_LINES = 1_000;
const TURN_CHARACTERS = LARGE_TEXT_BYTES;
const MAX_KEPT = 8;
/** Larger pages are not kept. */
const MAX_KEPT_BYTES = 256 * 1024;
/**
 * Match the first line that the host writes at every start, as text and as JSON, and no line of a service that quotes
 * it: as JSON such a line names its process before the message.
 */
const BANNERS = [
  /^\w{3} \d{1,2}, \d{4} [\d:.]{8,12} - INFO - host: Stackwarden \S+ starts$/gm,
  /^\{"time":"[\dT:.-]{23}Z","level":"INFO","message":"host: Stackwarden \S+ starts"\}$/gm,
];

export interface LogPage {
  readonly size: number;
  readonly cursor: number;
  readonly chunk: string;
  readonly reset: boolean;
  readonly fileId: string | null;
}

export interface PageRequest {
  readonly cursor: number | undefined;
  readonly tailBytes: number;
  readonly fileId: string | undefined;
  readonly ownLog: boolean;
}

/** What is known at the beginning of a file of a private key that the file before it may have begun. */
export type KeysOfFormer = (fileId: string) => Promise<KeyBlock>;

const NOTHING: LogPage = { size: 0, cursor: 0, chunk: '', reset: true, fileId: null };

export class LogPages {
  /** Pages by request and version of the file; the one that was used last comes last. */
  readonly #kept = new Map<string, LogPage>();

  /**
   * A file that is missing, may not be opened, or is on a mount that does not answer gives an empty page. The same
   * request gives the same object while the file does not change.
   */
  async read(open: () => Promise<FileHandle | null>, request: PageRequest, former?: KeysOfFormer): Promise<LogPage> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<LogPage>(resolve => {
      timer = setTimeout(resolve, READ_LIMIT_MS, NOTHING);
    });
    const page = open().then(handle => (handle === null ? NOTHING : this.#ofFile(handle, request, former)));
    try {
      return await Promise.race([page.catch(() => NOTHING), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #ofFile(handle: FileHandle, request: PageRequest, former?: KeysOfFormer): Promise<LogPage> {
    try {
      const entry = await handle.stat();
      const version = restingVersion(entry);
      if (version === null || request.tailBytes > MAX_KEPT_BYTES)
        return await readFromFile(handle, entry, request, former);
      const { cursor, tailBytes, fileId, ownLog } = request;
      const key = JSON.stringify([version, cursor, tailBytes, fileId, ownLog]);
      const page = this.#kept.get(key) ?? (await readFromFile(handle, entry, request, former));
      this.#kept.delete(key);
      this.#kept.set(key, page);
      const [oldest = key] = this.#kept.keys();
      if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
      return page;
    } finally {
      await handle.close();
    }
  }
}

export function fileIdOf({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string {
  return `${dev.toString(16)}:${ino.toString(16)}`;
}

async function readFromFile(
  handle: FileHandle,
  entry: Stats,
  request: PageRequest,
  former?: KeysOfFormer,
): Promise<LogPage> {
  const { size } = entry;
  const fileId = fileIdOf(entry);
  const { cursor, tailBytes } = request;
  const sameFile = request.fileId === undefined || request.fileId === fileId;
  const goesOn = cursor !== undefined && sameFile && cursor <= size && size - cursor <= tailBytes;
  const start = goesOn ? cursor : Math.max(0, size - tailBytes);
  const bytes = await readRange(handle.fd, start, size - start);
  const startsInLine = start > 0 && !(await endsLine(handle.fd, start));
  const newline = bytes.indexOf(NEWLINE);
  // A line longer than the whole part is cut, because otherwise the cursor could never pass it.
  const to = bytes.lastIndexOf(NEWLINE) + 1 || (bytes.length >= tailBytes ? bytes.length : 0);
  const from = startsInLine ? newline + 1 || to : 0;
  // The end of a line whose beginning was shown before is left out.
  const cutsLine = startsInLine && from === to && to > 0 && (newline < 0 || !goesOn);
  const text = cutsLine
    ? await endOfLine(handle.fd, start, start + to, tailBytes)
    : await redactLines(
        bytes.subarray(from, to),
        await keysBefore(handle.fd, start + from, former && (() => former(fileId))),
      );
  const chunk = request.ownLog && cursor === undefined ? sinceBanner(text) : text;
  return { size, cursor: start + to, chunk, reset: !goesOn, fileId };
}

export async function readRange(descriptor: number, start: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await read(descriptor, Buffer.alloc(length), 0, length, start);
  return buffer.subarray(0, bytesRead);
}

async function endsLine(descriptor: number, start: number): Promise<boolean> {
  return (await readRange(descriptor, start - 1, 1))[0] === NEWLINE;
}

/**
 * What is known at `position` of a private key that the lines before it may have begun. `former` is asked where these
 * are in the file before, because the log was rotated within the key.
 */
export async function keysBefore(
  descriptor: number,
  position: number,
  former?: () => Promise<KeyBlock>,
): Promise<KeyBlock> {
  const start = Math.max(0, position - LOOKED_BEFORE_BYTES);
  const bytes = await readRange(descriptor, start, position - start);
  const goesOn = start === 0 && former !== undefined && (await mayBeginInKey(descriptor));
  const keys = goesOn ? await former() : new KeyBlock();
  if (!keys.concerns(bytes)) return keys;
  for (const line of bytes.toString('utf8').split('\n').slice(0, -1)) keys.shown(line);
  return keys;
}

/** Whether the first line of a file looks like one within a private key, and not like a word alone. */
async function mayBeginInKey(descriptor: number): Promise<boolean> {
  const line = await firstLine(descriptor);
  return line.length >= KEY_LINE_LENGTH && new KeyBlock(true).shown(line) !== line;
}

/**
 * What the look of its first line tells at the beginning of a file, where the file before cannot be read: a whole line
 * of base64 in the width of keys belongs to one. A line of hexadecimal digits is a checksum.
 */
export async function keysByLook(descriptor: number): Promise<KeyBlock> {
  const line = (await firstLine(descriptor)).trimEnd();
  const isOfKey = KEY_LINE.test(line) && [/[A-Z]/, /[a-z]/, /\d/].every(kind => kind.test(line));
  return new KeyBlock(isOfKey);
}

async function firstLine(descriptor: number): Promise<string> {
  const head = await readRange(descriptor, 0, FIRST_LINE_BYTES);
  const [line = ''] = head.toString('utf8').trimStart().split('\n', 1);
  return line;
}

/** At most the last `maxBytes` of the line that begins before `start`, up to `end`. */
async function endOfLine(descriptor: number, start: number, end: number, maxBytes: number): Promise<string> {
  const before = Math.max(0, start - LOOKED_BEFORE_BYTES);
  const bytes = await readRange(descriptor, before, end - before);
  const lineStart = bytes.lastIndexOf(NEWLINE, start - before - 1) + 1;
  const shown = Buffer.from(await redactLines(bytes.subarray(lineStart)));
  // Where the line began still earlier, what was looked at may begin within a secret.
  const known = before === 0 || lineStart > 0 ? 0 : LOOKED_BEFORE_BYTES;
  let from = Math.max(known, shown.length - maxBytes);
  while (isWithinCharacter(shown[from])) from += 1;
  return shown.toString('utf8', from);
}

function isWithinCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** `before` is what the lines before these have begun. */
export async function redactLines(bytes: Buffer, before = new KeyBlock()): Promise<string> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let text = '';
  /** Where the bytes begin that need no redaction and are not part of `text` yet. */
  let same = 0;
  let lines = 0;
  let characters = 0;
  // A program that writes its log itself may write a private key into it, all lines of which but the first look
  // harmless.
  const keys = before.isOpen ? before : KeyBlock.within(bytes);
  for (let start = 0; start < bytes.length; ) {
    const end = lineEnd(bytes, start);
    const signs = secretSigns(view, start, end);
    if (keys.isOpen || mayHoldSecrets(signs)) {
      const line = bytes.toString('utf8', start, end);
      const shown = keys.concerns(line) ? keys.shown(line) : line;
      text += bytes.toString('utf8', same, start) + (await redacted(shown, signs));
      characters += shown.length;
      same = shown === '' ? Math.min(end + 1, bytes.length) : end;
    }
    start = end + 1;
    lines += 1;
    if (lines < TURN_LINES && characters < TURN_CHARACTERS) continue;
    await turn();
    lines = 0;
    characters = 0;
  }
  return text + bytes.toString('utf8', same);
}

function lineEnd(bytes: Buffer, start: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  return newline < 0 ? bytes.length : newline;
}

function mayHoldSecrets(signs: number): boolean {
  return signs !== 0 && signs !== UNPRINTABLE;
}

/** A long line is searched in a thread; one that takes too long there is masked as a whole. */
async function redacted(line: string, signs: number): Promise<string> {
  if (line.length <= LARGE_TEXT_BYTES) return redact(line, signs);
  return readText(import.meta.url, redactLongLine, line, signs).catch(() => MASK);
}

/** @public The thread for large texts calls it by its name. */
export function redactLongLine(line: string, signs: number): string {
  return redact(line, signs);
}

function sinceBanner(text: string): string {
  const starts = BANNERS.map(banner => [...text.matchAll(banner)].at(-1)?.index ?? 0);
  return text.slice(Math.max(...starts));
}
