// One attempt to deliver one message, within limits of time and size. Every failure becomes one sentence without
// secrets.
import { type FetchOptions, type FetchStream, Problem } from '#core';
import { follow, orAborted } from '#kit/abort';
import { errorText } from '#kit/error-text';
import { plainData } from '#kit/plain-data';
import { isObject } from '#kit/plain-object';
import type {
  Delivery,
  DeliveryAnswer,
  DeliveryOutcome,
  DeliveryRequest,
  DestinationUrl,
  NotificationDestination,
} from './contract.ts';
import { readOptions, type UrlOptions } from './destination-url.ts';
import { type MessageFacts, messagesFor } from './message-text.ts';
import { scrubber } from './scrub.ts';
import { shortened } from './short-text.ts';

const TIMEOUT_MS = 15_000;
/** How long the body of an answer is read; afterwards its beginning suffices, because the status has arrived. */
const BODY_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1_024;
const MAX_REASON_LENGTH = 200;
const MAX_ERROR_LENGTH = 1_000;
/** Smaller numbers are not Unix seconds; below `FIRST_MILLISECONDS` they are not Unix milliseconds. */
const FIRST_SECONDS = 1e9;
const FIRST_MILLISECONDS = 1e12;
/** The members of a JSON answer in which services say what was wrong. */
const REASON_KEYS = ['error', 'message', 'description', 'detail', 'errors', 'msg', 'reason'];

/** What an attempt needs from the host. */
export interface AttemptAccess {
  fetch(url: string, options: FetchOptions & { stream: true }): Promise<FetchStream>;
  readonly userAgent: string;
  /** Ends the attempt early. */
  readonly signal?: AbortSignal;
}

/**
 * The parts and targets that one message has reached, which a repetition skips. The last part is never added, because
 * the message is delivered then.
 */
export interface Reached {
  has(target: string): boolean;
  add(target: string): void;
}

/** Makes the attempt. Never rejects, and never takes much longer than 15 s. */
export async function attempt(
  destination: NotificationDestination,
  url: DestinationUrl,
  facts: MessageFacts,
  access: AttemptAccess,
  { verifyTls = true, reached = new Set() }: { readonly verifyTls?: boolean; readonly reached?: Reached } = {},
): Promise<DeliveryOutcome> {
  const scrub = scrubber(url);
  const options = readOptions(url, destination.schemes);
  const ended = new AbortController();
  const stopFollowing = follow(ended, access.signal === undefined ? [] : [access.signal]);
  const urlOptions = { ...options, verifyTls: verifyTls && options.verifyTls };
  const scrubbed = new WeakSet<DeliveryOutcome>();
  const delivery = deliveryOf({ ...access, signal: ended.signal }, urlOptions, { scrub, scrubbed });
  const send = async (): Promise<DeliveryOutcome> => {
    const config: unknown = destination.parse(url);
    const messages = messagesFor(facts, destination, options);
    for (const [part, message] of messages.entries()) {
      if (reached.has(`${part}`)) continue;
      const outcome = await destination.send(config, message, { ...delivery, each: eachOf(reached, part) });
      if (!outcome.ok) return outcome;
      if (part < messages.length - 1) reached.add(`${part}`);
    }
    return { ok: true };
  };
  const timer = setTimeout(() => ended.abort(new DOMException('late', 'TimeoutError')), TIMEOUT_MS);
  try {
    const outcome = await orAborted(send, ended.signal);
    if (outcome.ok || scrubbed.has(outcome)) return outcome;
    return { ...outcome, error: oneLine(scrub(outcome.error), MAX_ERROR_LENGTH) };
  } catch (error) {
    return { ok: false, error: oneLine(faultText(error, scrub), MAX_ERROR_LENGTH) };
  } finally {
    clearTimeout(timer);
    stopFollowing();
  }
}

interface Scrubbing {
  /**
   * Removes secrets from texts of services and plugins. Sentences of the host are not scrubbed: they contain no secret,
   * but may share a word with one.
   */
  scrub(text: string): string;
  /** Outcomes whose error is scrubbed and shortened already. */
  readonly scrubbed: WeakSet<DeliveryOutcome>;
}

function deliveryOf(
  { fetch, userAgent, signal }: Required<AttemptAccess>,
  { verifyTls, connectTimeoutMs, readTimeoutMs }: UrlOptions,
  { scrub, scrubbed }: Scrubbing,
): Omit<Delivery, 'each'> {
  return {
    signal,
    timeoutMs: TIMEOUT_MS,
    connectTimeoutMs,
    readTimeoutMs,
    verifyTls,
    userAgent,
    async request(url, request) {
      const reading = new AbortController();
      const options: FetchOptions & { stream: true } = {
        ...optionsOf(request),
        stream: true,
        redirects: 0,
        timeoutMs: Math.min(connectTimeoutMs + readTimeoutMs, TIMEOUT_MS),
        idleTimeoutMs: readTimeoutMs,
        connectTimeoutMs,
        verifyTls,
        keepAlive: false,
        signal: AbortSignal.any([signal, reading.signal]),
      };
      const answer = await fetch(url, options).catch((error: unknown) => {
        // A Problem, because an unreachable service is not a fault of the plugin. The log must not name the server.
        throw new Problem(502, faultText(error, scrub), { cause: error });
      });
      const timer = setTimeout(() => reading.abort(), Math.min(readTimeoutMs, BODY_MS));
      const text = await readSome(answer.body).finally(() => clearTimeout(timer));
      signal.throwIfAborted();
      return { status: answer.status, headers: answer.headers, text, json: membersOf(text) };
    },
    outcome(answer, { statuses, isOk = true, reason, retryAfterSec } = {}) {
      if (isOk && isAccepted(answer, statuses)) return { ok: true };
      // Scrubbed before it is shortened, because half of a secret would not be found.
      const told = (words: string) => oneLine(scrub(words), MAX_REASON_LENGTH);
      const text = typeof reason === 'string' ? told(reason) : (unreadable(answer) ?? told(toldBy(answer)));
      const failure: DeliveryOutcome = {
        ok: false,
        error: text === '' ? `HTTP ${answer.status}` : `HTTP ${answer.status}: ${text}`,
        retryAfterSec: isPause(retryAfterSec) ? retryAfterSec : retryAfter(answer),
      };
      scrubbed.add(failure);
      return failure;
    },
  };
}

function eachOf(reached: Reached, part: number): Delivery['each'] {
  return async (targets, send) => {
    let outcome: DeliveryOutcome = { ok: true };
    for (const target of targets) {
      const key = `${part} ${JSON.stringify(target)}`;
      if (reached.has(key)) continue;
      const own = await send(target);
      if (!own.ok && outcome.ok) outcome = own;
      if (own.ok && targets.length > 1) reached.add(key);
    }
    return outcome;
  };
}

function optionsOf({ method = 'POST', headers = {}, json, form, body, basic }: DeliveryRequest): FetchOptions {
  const all: Record<string, string> = { ...headers };
  if (basic !== undefined && basic.user !== '') {
    all.authorization = `Basic ${Buffer.from(`${basic.user}:${basic.password}`).toString('base64')}`;
  }
  if (json !== undefined) return { method, headers: all, json };
  if (form === undefined) return { method, headers: all, ...(body === undefined ? {} : { body }) };
  const members = Object.entries(form).filter((member): member is [string, string] => member[1] !== undefined);
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return { method, headers: { ...type, ...all }, body: new URLSearchParams(members).toString() };
}

/** The first 64 KiB of the answer, or what came before it broke off. */
async function readSome(body: FetchStream['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    // A message that was accepted must not be sent again because the rest of the answer is missing.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8');
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = plainData(JSON.parse(text));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isAccepted({ status }: DeliveryAnswer, accepted: readonly number[] | undefined): boolean {
  return accepted === undefined ? status >= 200 && status < 300 : accepted.includes(status);
}

/** The reason when the body of the answer cannot give one: a redirect, or a compressed body. */
function unreadable({ status, headers }: DeliveryAnswer): string | undefined {
  if (status >= 300 && status < 400) return 'the service redirects, which is not followed';
  const encoding = String(headers['content-encoding'] ?? 'identity');
  return encoding === 'identity' ? undefined : 'the answer is compressed, though that was not asked for';
}

function toldBy({ text, json }: DeliveryAnswer): string {
  const told = REASON_KEYS.map(key => json[key]).find(value => value !== undefined && value !== null && value !== true);
  if (typeof told === 'string') return told;
  if (told !== undefined) return JSON.stringify(told);
  return text.startsWith('<') ? '' : text;
}

function isPause(seconds: unknown): seconds is number {
  // A JSON number may be too large, and is then infinite.
  return typeof seconds === 'number' && Number.isFinite(seconds);
}

/** The pause in seconds that the headers of the answer ask for. */
function retryAfter({ status, headers }: DeliveryAnswer): number | undefined {
  const value = String(headers['retry-after'] ?? (status === 429 ? untilReset(headers) : '')).trim();
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1_000);
}

/** The seconds until a rate limit ends, which services give in seconds from now, or in Unix seconds or milliseconds. */
function untilReset(headers: DeliveryAnswer['headers']): number | '' {
  const value = Number(headers['x-ratelimit-reset'] ?? NaN);
  if (Number.isNaN(value)) return '';
  const at = value > FIRST_MILLISECONDS ? value / 1_000 : value;
  return Math.max(0, Math.ceil(value < FIRST_SECONDS ? value : at - Date.now() / 1_000));
}

/** Why there is no answer, without the name of the server. */
function faultText(error: unknown, scrub: Scrubbing['scrub']): string {
  const cause = causeOf(error);
  const { code = '', name = '' } = cause as { code?: string; name?: string };
  if (name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code)) return 'The service did not answer in time.';
  if (name === 'AbortError') return 'The delivery was interrupted.';
  switch (code) {
    case 'ECONNREFUSED':
      return 'The connection was refused: no service listens at this address.';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'The name of the host cannot be resolved.';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'The host cannot be reached.';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'The service closed the connection without an answer.';
    default:
      return /CERT|SIGNED|ALTNAME|UNABLE_TO/.test(code)
        ? `The certificate of the service is not trusted (${code}). Verification can be switched off with verify=no.`
        : scrub(errorText(cause));
  }
}

/** The innermost error that has a code, or else the error. */
function causeOf(error: unknown): unknown {
  const { code, cause, errors } = (error ?? {}) as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === 'string' && Array.isArray(errors) === false) return error;
  const inner = cause ?? errors?.[0];
  return inner === undefined ? (error ?? 'unknown fault') : causeOf(inner);
}

/** The text in one line, without control characters that a service may have put into its answer. */
function oneLine(text: string, length: number): string {
  return shortened(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), length);
}
