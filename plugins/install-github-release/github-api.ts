// Requests to the API of GitHub, which limits their number per hour. Once it refuses one, no more are sent until it
// allows them again.
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { type FetchAnswer, Problem } from '#core';
import { statusFault } from '#kit/server-fault';
import type { SourceRequest } from '../installs/contract.ts';
import type { Repository } from './github-facts.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const LIMIT_MS = 12_000;
const MS_PER_S = 1_000;
/** The longest pause that a server may ask for. GitHub's limits are per hour, so a longer one would be wrong. */
const MAX_PAUSE_MS = 3_600_000;
const WITH_TOKEN = 'a token in github_token of the section dumb allows more';

/** An answer that asked for a pause. */
export interface Refusal {
  readonly answer: Pick<FetchAnswer, 'status' | 'headers'>;
  /** End of the pause on the clock of `performance.now()`, which changes of the time of day do not affect. */
  readonly untilMs: number;
}

export interface ApiOptions {
  readonly base: string;
  readonly repository: Repository;
  readonly token: string;
  /** How long a request may wait for the end of a pause; a longer pause fails it at once. */
  readonly maxWaitS: number;
  /** The last refusal for each host and token, shared by all requests of the source. */
  readonly refusals: Map<string, Refusal>;
}

export class GithubApi {
  readonly #request: SourceRequest;
  readonly #options: ApiOptions;
  readonly #onWait: (untilMs: number) => void;

  constructor(request: SourceRequest, options: ApiOptions, onWait: (untilMs: number) => void = () => undefined) {
    this.#request = request;
    this.#options = options;
    this.#onWait = onWait;
  }

  /** Address of a path below the repository. */
  url(path: string): string {
    return `${this.#options.base.replace(/\/$/, '')}/repos/${this.repositoryName}${path}`;
  }

  get repositoryName(): string {
    const { owner, name } = this.#options.repository;
    return `${owner}/${name}`;
  }

  get hasToken(): boolean {
    return this.#options.token !== '';
  }

  /** Headers for requests to the API only, because they hold the token. */
  get headers(): Record<string, string> {
    const { token } = this.#options;
    return {
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    };
  }

  /**
   * The answer for a path below the repository; undefined for status 404. `what` names the wanted thing in messages, as
   * in `the latest release`. Throws a Problem.
   */
  async find<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    what: string,
  ): Promise<z.output<Schema> | undefined> {
    const url = this.url(path);
    const { host } = new URL(url);
    const answer = await this.#ask(url);
    if (answer.status === 404) return undefined;
    if (answer.status === 401)
      throw new Problem(502, `${host} does not know the token (401); correct github_token in the section dumb`);
    if (answer.status !== 200) throw this.#fault(url, answer, what);
    const read = schema.safeParse(jsonOf(answer));
    if (read.success) return read.data;
    throw new Problem(502, `${host} did not answer with ${what}; try again later`);
  }

  async #ask(url: string): Promise<FetchAnswer> {
    const key = `${new URL(url).host} ${this.#options.token}`;
    await this.#pass(key, url);
    const answer = await this.#send(url);
    const pauseMs = askedPauseMs(answer);
    if (pauseMs === undefined) {
      this.#options.refusals.delete(key);
      return answer;
    }
    this.#options.refusals.set(key, { answer, untilMs: performance.now() + pauseMs });
    await this.#pass(key, url);
    return this.#send(url);
  }

  /** Waits for the end of a pause. Throws a Problem when the pause is longer than `maxWaitS`. */
  async #pass(key: string, url: string): Promise<void> {
    const refusal = this.#options.refusals.get(key);
    const waitMs = (refusal?.untilMs ?? 0) - performance.now();
    if (refusal === undefined || waitMs <= 0) return;
    if (waitMs > this.#options.maxWaitS * MS_PER_S)
      throw this.#fault(url, asOfNow(refusal.answer, waitMs), 'its answer');
    this.#onWait(Date.now() + waitMs);
    await delay(waitMs, undefined, { signal: this.#request.signal });
  }

  #send(url: string): Promise<FetchAnswer> {
    const { fetch, signal } = this.#request;
    return fetch(url, { headers: this.headers, maxBytes: MAX_BYTES, timeoutMs: LIMIT_MS, signal });
  }

  #fault(url: string, answer: Refusal['answer'], what: string): Problem {
    const fault = statusFault(url, answer, what);
    const isLimited = askedPauseMs(answer) !== undefined && this.#options.token === '';
    return isLimited ? new Problem(fault.status, `${fault.message}, or now: ${WITH_TOKEN}`) : fault;
  }
}

/** The pause that an answer asks for, in milliseconds; undefined when it asks for none. */
function askedPauseMs({ status, headers }: Refusal['answer']): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = String(headers['retry-after'] ?? '');
  if (/^\d+$/.test(after)) return Math.min(Number(after) * MS_PER_S, MAX_PAUSE_MS);
  const reset = String(headers['x-ratelimit-reset'] ?? '');
  const isUsedUp = status === 429 || headers['x-ratelimit-remaining'] === '0';
  if (!isUsedUp || !/^\d+$/.test(reset)) return undefined;
  return Math.min(Number(reset) * MS_PER_S - Date.now(), MAX_PAUSE_MS);
}

/** The answer with its `Retry-After`, which counts from the time of the answer, reduced to the rest of the pause. */
function asOfNow(answer: Refusal['answer'], waitMs: number): Refusal['answer'] {
  const after = String(answer.headers['retry-after'] ?? '');
  const pauseMs = Number(after) * MS_PER_S;
  if (!/^\d+$/.test(after) || pauseMs > MAX_PAUSE_MS) return answer;
  const leftS = Math.ceil(waitMs / MS_PER_S);
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(leftS) } };
}

/** undefined when the answer is no JSON. */
function jsonOf(answer: FetchAnswer): unknown {
  try {
    return answer.json();
  } catch {
    return undefined;
  }
}
