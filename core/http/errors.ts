// Turns every failure into an answer: `{detail}` with one redacted line, never a stack trace.
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { Problem } from '../contract/problem.ts';
import { missingPart } from '../kit/missing-part.ts';
import { redact } from '../kit/redact.ts';
import { shapeIssues } from '../kit/shape-issues.ts';

/** Limits of an answer, which names what is wrong without sending the whole input back. */
const MAX_TEXT = 1_000;
const MAX_NAME = 100;
const MAX_ERRORS = 50;

export interface FailureAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

/**
 * A Problem becomes an answer with its status. Any other error becomes a 500 with an id, or a 503 when a part of the
 * program is missing; `report` gets it with the same id and `what`, the name of the operation that failed.
 */
export function failureAnswer(error: unknown, what: string, report: (error: Error) => void): FailureAnswer {
  if (error instanceof Problem) {
    const headers = error.status === 401 ? { 'WWW-Authenticate': 'Bearer', ...error.headers } : { ...error.headers };
    return { status: error.status, headers, body: { ...error.extra, detail: formatOneLine(error.message) } };
  }
  const id = randomBytes(4).toString('hex');
  report(new Error(`${what} failed (id ${id})`, { cause: error }));
  const missing = missingPart(error);
  if (missing !== undefined) return { status: missing.status, headers: {}, body: { detail: missing.message } };
  return { status: 500, headers: {}, body: { detail: `Internal error (id ${id})` } };
}

/**
 * The Problem 422 for a schema error, with its first 50 issues; `place`, such as `body` or `query`, is the first
 * element of each location.
 */
export function shapeProblem(place: string, error: z.ZodError): Problem {
  const issues = shapeIssues(error);
  const errors = issues.slice(0, MAX_ERRORS).map(issue => ({
    loc: [place, ...issue.path.map(part => (typeof part === 'number' ? part : shortened(String(part), MAX_NAME)))],
    msg: shortened(issue.message, MAX_TEXT),
    type: issue.code,
  }));
  const [first] = errors;
  const detail = first === undefined ? `The ${place} has the wrong shape` : `${first.loc.join('.')}: ${first.msg}`;
  const more = errors.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new Problem(422, detail + more, { extra: { errors } });
}

function formatOneLine(text: string): string {
  if (/\n\s+at \S/.test(text.slice(0, MAX_TEXT))) return 'Internal error';
  return redact(shortened(text, MAX_TEXT)).replace(/\s+/g, ' ').trim();
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
