// Turns every failure into an answer: `{detail}` with one redacted line, never a stack trace.
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { Problem } from '../contract/problem.ts';
import { redact } from '../kit/redact.ts';

export interface FailureAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

/**
 * A Problem becomes an answer of its own status. Any other error becomes a 500 with an id, and `report` receives the
 * error with the same id; `what` says there which operation failed.
 */
export function failureAnswer(error: unknown, what: string, report: (error: Error) => void): FailureAnswer {
  if (error instanceof Problem) {
    const headers = error.status === 401 ? { 'WWW-Authenticate': 'Bearer', ...error.headers } : { ...error.headers };
    return { status: error.status, headers, body: { ...error.extra, detail: formatOneLine(error.message) } };
  }
  const id = randomBytes(4).toString('hex');
  report(new Error(`${what} failed (id ${id})`, { cause: error }));
  return { status: 500, headers: {}, body: { detail: `Internal error (id ${id})` } };
}

/** The Problem 422 for a schema error; `place`, such as `body` or `query`, is the first element of each location. */
export function shapeProblem(place: string, error: z.ZodError): Problem {
  const errors = error.issues.map(issue => ({
    loc: [place, ...issue.path.map(part => (typeof part === 'symbol' ? String(part) : part))],
    msg: issue.message,
    type: issue.code,
  }));
  const [first] = errors;
  const detail = first === undefined ? `The ${place} has the wrong shape` : `${first.loc.join('.')}: ${first.msg}`;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new Problem(422, detail + more, { extra: { errors } });
}

function formatOneLine(text: string): string {
  if (/\n\s+at \S/.test(text)) return 'Internal error';
  return redact(text).replace(/\s+/g, ' ').trim();
}
