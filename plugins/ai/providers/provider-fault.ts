// The errors of failed calls of providers: one sentence, without secrets and without whole pages of other servers.
import { Problem } from '#core';
import { isObject } from '#kit/plain-object';
import { redactText } from '../redaction/secret-text.ts';

const MAX_REASON = 500;
/** Limit of the text of an answer that is not JSON, such as the page of another server. */
const MAX_FOREIGN_REASON = 200;
/**
 * How much of an answer is searched for secrets. It is more than is shown, so that no secret cut off at the end is
 * shown.
 */
const MAX_READ = 16 * 1024;
const REASON_KEYS = ['detail', 'error', 'message', 'text'];
const MAX_DEPTH = 6;

/** The beginning of the codes of Problems for answers with an error status. */
const STATUS_CODE = 'ai.http.';

export function statusFault(status: number, reason: string): Problem {
  const told = reason === '' ? '' : `: ${reason}`;
  return new Problem(502, `AI provider request failed (${status})${told}`, { code: `${STATUS_CODE}${status}` });
}

/** `reason` is the word of the service. */
export function noTextFault(reason: string, key = ''): Problem {
  const line = reasonOf(reason, undefined, key);
  const told = line === '' ? '' : ` (${line})`;
  return new Problem(502, `The AI provider answered without text${told}; choose another model or shorten the question`);
}

export function isRefusedKey(error: unknown): boolean {
  return error instanceof Problem && (error.code === `${STATUS_CODE}401` || error.code === `${STATUS_CODE}403`);
}

/** Why a provider refused, from the body of its answer, without the key in any form. */
export function reasonOf(text: string, value: unknown, key: string): string {
  const told = isObject(value) || Array.isArray(value) ? (toldBy(value) ?? JSON.stringify(value)) : undefined;
  const bare = told ?? text.slice(0, 10 * MAX_FOREIGN_REASON).replace(/<[^<>]*>/g, ' ');
  const line = redactText(withoutKey(bare.slice(0, MAX_READ), key))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.slice(0, told === undefined ? MAX_FOREIGN_REASON : MAX_REASON);
}

/** The sentence in which a service says what was wrong; undefined when it says nothing. */
export function toldBy(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (Array.isArray(value)) return toldBy(value[0], depth + 1);
  if (!isObject(value) || depth > MAX_DEPTH) return undefined;
  for (const key of REASON_KEYS) {
    const told = toldBy(value[key], depth + 1);
    if (told !== undefined) return told;
  }
  return undefined;
}

function withoutKey(text: string, key: string): string {
  if (key === '') return text;
  const forms = [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)];
  return forms.reduce((rest, form) => rest.replaceAll(form, '[REDACTED]'), text);
}

/** The error when there is no answer. `place` is the host and port. */
export function networkFault(error: unknown, place: string): Problem {
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return new Problem(504, `${place} could not be reached in time (${code}); check base_url and the network`);
  // An answer that is not HTTP or was cut off has no code.
  const told = code ?? (error instanceof Error ? error.name : 'no connection');
  return new Problem(502, `${place} cannot be asked (${told}); check base_url and that it runs`, { cause: error });
}

/** The code of the error or of the innermost cause that has one. */
export function codeOf(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return undefined;
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  const [first] = Array.isArray(errors) ? errors : [];
  return codeOf(cause ?? first, depth + 1) ?? (typeof code === 'string' ? code : undefined);
}
