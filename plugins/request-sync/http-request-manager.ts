// The common API of request managers over HTTP, with limits of time and size. Reads are retried, and the key is only
// sent to its own origin.
import { setTimeout as delay } from 'node:timers/promises';
import type { FetchAnswer, Host } from '#core';
import { follow } from '#kit/abort';
import { isObject } from '#kit/plain-object';
import { redact } from '#kit/redact';
import type { WorkQueue } from '#kit/work-queue';
import { isAbsent, networkReason, RemoteError } from './remote-error.ts';
import {
  isPositive,
  listOf,
  type MediaType,
  type RemoteRequest,
  type RemoteUser,
  readRequest,
  readTitle,
  readUser,
  type Title,
} from './remote-request.ts';
import { type NewRequest, PAGE_LENGTH, type Page, type RequestManager } from './request-manager.ts';

const API_PATH = '/api/v1';
const CONNECT_MS = 5_000;
const READY_MS = 10_000;
const CALL_MS = 30_000;
const PAGE_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;
const BETWEEN_WRITES_MS = 50;
const MAX_USER_PAGES = 100;
const REPEATS = 2;
/** The pause before a read is repeated for the first time. */
const FIRST_PAUSE_MS = 500;
const MAX_REDIRECTS = 3;
const NO_CONTENT = 204;
const BUSY = 429;
/** How often a call is repeated when the server answers 429. */
const MAX_WAITS = 5;
const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 120_000;
const MAX_MESSAGE_LENGTH = 300;
/** How much of a message is searched for secrets: much more than is shown, so a secret cut at its end is not shown. */
const MAX_READ_LENGTH = 16 * 1024;

export interface HttpRequestManagerParts {
  readonly host: Pick<Host, 'fetch' | 'paced'>;
  /** Without a trailing slash. */
  readonly address: string;
  readonly apiKey: string;
  /** The queue of the remote host, to which calls are made one at a time. */
  readonly lane: WorkQueue;
  /** Once it fires, no call begins, and running reads end; running changes go on. */
  readonly stopping: AbortSignal;
  /** Ends every call. */
  readonly signal: AbortSignal;
  /** The greatest size of an answer. Default 32 MiB. */
  readonly maxBytes?: number;
}

interface Call {
  readonly method?: 'POST' | 'PUT' | 'DELETE';
  readonly json?: unknown;
  readonly timeoutMs?: number;
  /** Whether the call is never repeated. */
  readonly isSingle?: boolean;
  /** The user in whose name the call is made. */
  readonly userId?: number;
}

/** When the last write of each lane ended, on the monotonic clock. */
const lastWritesMs = new WeakMap<WorkQueue, number>();

export class HttpRequestManager implements RequestManager {
  readonly #with: HttpRequestManagerParts;

  constructor(parts: HttpRequestManagerParts) {
    this.#with = parts;
  }

  async check(): Promise<void> {
    await this.status();
  }

  /** The answer of the remote, which contains its version. */
  async status(): Promise<Record<string, unknown>> {
    const answer = await this.#call('/status', { timeoutMs: READY_MS, isSingle: true });
    const body = answer.status < 300 ? bodyOf(answer) : undefined;
    if (answer.status >= 300) throw this.#refusal(answer);
    if (!isObject(body) || typeof body.version !== 'string' || body.version.trim() === '')
      throw new RemoteError('answer', 'the address is not that of a request manager: its status has no version');
    return body;
  }

  async keyRefusal(): Promise<number | undefined> {
    const { status } = await this.#call('/auth/me', { timeoutMs: READY_MS, isSingle: true });
    return status === 401 || status === 403 ? status : undefined;
  }

  async page(sort: 'added' | 'modified', skip: number): Promise<Page> {
    const query = `take=${PAGE_LENGTH}&skip=${skip}&sort=${sort}`;
    const body = await this.#read(`/request?${query}`, PAGE_MS);
    const { pageInfo, results } = isObject(body) ? body : {};
    const total = isObject(pageInfo) ? pageInfo.results : undefined;
    if (!Number.isSafeInteger(total) || Number(total) < 0 || !Array.isArray(results))
      throw new RemoteError('answer', 'a page of the list is no page');
    return {
      length: results.length,
      total: Number(total),
      requests: results.flatMap(request => readRequest(request) ?? []),
      ids: results.flatMap(request => (isObject(request) && isPositive(request.id) ? [request.id] : [])),
    };
  }

  async request(id: number): Promise<RemoteRequest | null | undefined> {
    const answer = await this.#call(`/request/${id}`);
    if (this.#isGone(answer)) return null;
    const body = this.#bodyOf(answer);
    if (!isObject(body) || body.id !== id) throw new RemoteError('answer', 'the answer is no request');
    return readRequest(body);
  }

  async title(mediaType: MediaType, tmdbId: number): Promise<Title> {
    return readTitle(await this.#read(`/${mediaType}/${tmdbId}`), { mediaType, tmdbId });
  }

  async users(): Promise<readonly RemoteUser[]> {
    const users: RemoteUser[] = [];
    for (let number = 0, skip = 0; number < MAX_USER_PAGES; number += 1) {
      const body = await this.#read(`/user?take=${PAGE_LENGTH}&skip=${skip}`, PAGE_MS);
      const { pageInfo, results } = isObject(body) ? body : {};
      const shown = listOf(results);
      users.push(...shown.flatMap(user => readUser(user) ?? []));
      skip += shown.length;
      const total = isObject(pageInfo) ? Number(pageInfo.results) : Number.NaN;
      if (shown.length === 0 || (shown.length < PAGE_LENGTH && !(skip < total))) return users;
    }
    return users;
  }

  async create(request: NewRequest): Promise<RemoteRequest | undefined> {
    const { mediaType, tmdbId, tvdbId, is4k, seasons, userId, isAskedByUser } = request;
    const series = mediaType === 'tv' ? { seasons, ...(tvdbId === null ? {} : { tvdbId }) } : {};
    const isOwner = userId !== undefined && isAskedByUser !== true;
    const json = { mediaType, mediaId: tmdbId, is4k, ...series, ...(isOwner ? { userId } : {}) };
    const asUser = userId !== undefined && isAskedByUser === true ? { userId } : {};
    const answer = await this.#call('/request', { method: 'POST', json, ...asUser });
    if (answer.status === 409 || answer.status === 202) return undefined;
    return readRequest(this.#bodyOf(answer), { mediaType, tmdbId });
  }

  async extend(id: number, seasons: readonly number[]): Promise<RemoteRequest | null | 'refused'> {
    const answer = await this.#call(`/request/${id}`, { method: 'PUT', json: { mediaType: 'tv', seasons } });
    return answer.status === 409 ? 'refused' : this.#changed(answer);
  }

  async approve(id: number): Promise<RemoteRequest | null> {
    return this.#changed(await this.#call(`/request/${id}/approve`, { method: 'POST' }));
  }

  async decline(id: number): Promise<RemoteRequest | null> {
    return this.#changed(await this.#call(`/request/${id}/decline`, { method: 'POST' }));
  }

  async remove(id: number): Promise<void> {
    const answer = await this.#call(`/request/${id}`, { method: 'DELETE' });
    // Requires JSON, because a 200 may be the login page of a proxy.
    if (!this.#isGone(answer) && answer.status !== NO_CONTENT) this.#bodyOf(answer);
  }

  #changed(answer: FetchAnswer): RemoteRequest | null {
    if (this.#isGone(answer)) return null;
    const request = readRequest(this.#bodyOf(answer));
    if (request === undefined) throw new RemoteError('answer', 'the answer is no request');
    return request;
  }

  async #read(path: string, timeoutMs = CALL_MS): Promise<unknown> {
    return this.#bodyOf(await this.#call(path, { timeoutMs }));
  }

  /** Whether the request does not exist. A 404 without JSON comes from a proxy and does not say that. */
  #isGone(answer: FetchAnswer): boolean {
    return answer.status === 404 && isObject(bodyOf(answer));
  }

  #bodyOf(answer: FetchAnswer): unknown {
    if (answer.status >= 300) throw this.#refusal(answer);
    const body = bodyOf(answer);
    if (body === undefined) throw new RemoteError('answer', 'the answer is not JSON', { status: answer.status });
    return body;
  }

  #refusal(answer: FetchAnswer): RemoteError {
    const body = bodyOf(answer);
    const told = isObject(body) && typeof body.message === 'string' ? body.message : '';
    const message = told.slice(0, MAX_READ_LENGTH).trim();
    const text = message === '' ? `HTTP ${answer.status}` : this.#scrubbed(message);
    return new RemoteError('answer', text, { status: answer.status });
  }

  #scrubbed(text: string): string {
    const { apiKey } = this.#with;
    return redact(apiKey === '' ? text : text.replaceAll(apiKey, '[REDACTED]')).slice(0, MAX_MESSAGE_LENGTH);
  }

  #call(path: string, call: Call = {}): Promise<FetchAnswer> {
    return this.#with.lane.add(() => this.#callPatiently(path, call));
  }

  async #callPatiently(path: string, call: Call): Promise<FetchAnswer> {
    for (let waits = 0, repeats = 0; ; ) {
      const isLast = call.isSingle === true || call.method !== undefined || repeats >= REPEATS;
      try {
        const answer = await this.#exchange(path, call);
        const isBusy = answer.status === BUSY && waits < MAX_WAITS && call.isSingle !== true;
        if (isBusy) {
          await this.#wait(patienceMs(answer, waits));
          waits += 1;
          continue;
        }
        if (isLast || !isAbsent(answer.status)) return answer;
      } catch (error) {
        if (isLast || !(error instanceof RemoteError) || error.fault !== 'network') throw error;
      }
      await this.#wait(FIRST_PAUSE_MS * 2 ** repeats);
      repeats += 1;
    }
  }

  /** Makes a call, and follows redirects of a read within the origin of the remote. */
  async #exchange(path: string, call: Call): Promise<FetchAnswer> {
    const { address, lane } = this.#with;
    const { method } = call;
    if (method !== undefined)
      await this.#wait((lastWritesMs.get(lane) ?? -BETWEEN_WRITES_MS) + BETWEEN_WRITES_MS - performance.now());
    let url = address + API_PATH + path;
    for (let redirects = 0; ; redirects += 1) {
      const answer = await this.#fetch(url, call);
      const target = targetOf(answer, url);
      if (target === undefined) return answer;
      const { origin } = target;
      if (origin !== new URL(url).origin) throw new RemoteError('answer', `it redirects to ${origin}`);
      if (method !== undefined || redirects >= MAX_REDIRECTS)
        throw new RemoteError('answer', `HTTP ${answer.status}`, { status: answer.status });
      url = target.href;
    }
  }

  async #fetch(url: string, { method, json, timeoutMs = CALL_MS, userId }: Call): Promise<FetchAnswer> {
    const { host, apiKey, lane, stopping, signal, maxBytes = MAX_BYTES } = this.#with;
    stopping.throwIfAborted();
    const ends = new AbortController();
    const stopFollowing = follow(ends, method === undefined ? [signal, stopping] : [signal]);
    try {
      return await host.fetch(url, {
        method: method ?? 'GET',
        ...(json === undefined ? {} : { json }),
        headers: {
          'X-Api-Key': apiKey,
          Accept: 'application/json',
          ...(userId === undefined ? {} : { 'X-API-User': String(userId) }),
        },
        redirects: 0,
        timeoutMs,
        connectTimeoutMs: CONNECT_MS,
        maxBytes,
        signal: ends.signal,
      });
    } catch (error) {
      // An abort by the host says nothing about the remote.
      stopping.throwIfAborted();
      if (error instanceof Error && error.message.startsWith('the answer is larger'))
        throw new RemoteError('answer', error.message, { cause: error });
      throw new RemoteError('network', networkReason(error), { cause: error });
    } finally {
      stopFollowing();
      if (method !== undefined) lastWritesMs.set(lane, performance.now());
    }
  }

  async #wait(ms: number): Promise<void> {
    const { host, stopping } = this.#with;
    if (ms > 0) await delay(host.paced(ms), undefined, { signal: stopping });
  }
}

/** The JSON of an answer; undefined when it is not JSON. */
function bodyOf(answer: FetchAnswer): unknown {
  try {
    return answer.json();
  } catch {
    return undefined;
  }
}

/** Where the answer redirects to; undefined when it does not. */
function targetOf({ status, headers }: FetchAnswer, url: string): URL | undefined {
  const { location } = headers;
  if (status < 300 || status >= 400 || typeof location !== 'string' || !URL.canParse(location, url)) return undefined;
  return new URL(location, url);
}

/** How long a busy server asks to wait, in seconds or until a time. */
function patienceMs({ headers }: FetchAnswer, waits: number): number {
  const asked = String(headers['retry-after'] ?? '').trim();
  const askedMs = /^\d+$/.test(asked) ? Number(asked) * 1_000 : Date.parse(asked) - Date.now();
  const ms = Number.isNaN(askedMs) ? FIRST_WAIT_MS * 2 ** waits : askedMs;
  return Math.min(Math.max(ms, 0), MAX_WAIT_MS);
}
