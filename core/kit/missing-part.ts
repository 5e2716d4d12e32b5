// Parts of the program that can no longer be loaded, because its folder was deleted or replaced while it runs.
import { Problem } from '../contract/problem.ts';
import { causesOf } from './causes.ts';

const CODES = ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'];

/** The Problem 503 for an error that is one of a missing module, or was caused by one; undefined for any other. */
export function missingPart(error: unknown): Problem | undefined {
  const isMissing = [...causesOf(error)].some(cause => CODES.includes((cause as NodeJS.ErrnoException).code ?? ''));
  return isMissing ? withoutPart(error) : undefined;
}

export function withoutPart(cause: unknown): Problem {
  const detail = 'A part of the program is missing, because its folder was deleted or replaced; restart Stackwarden';
  return new Problem(503, detail, { cause });
}
