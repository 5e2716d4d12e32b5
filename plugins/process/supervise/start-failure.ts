// Why a start did not succeed, as whoever asked for it is told.
import { type Host, type NamedBlock, Problem } from '#core';
import { errorText } from '#kit/error-text';
import type { ExitRecord } from '../contract.ts';

export function cancelled(what: 'Start' | 'Restart', processName: string, host: Host, cause: unknown): Problem {
  // Whoever asked for it is told what every other request is told now.
  if (host.stopping !== null) return new Problem(503, 'The service is shutting down', { cause });
  const detail = `${what} of ${processName} was cancelled by a stop; start it again if it is to run`;
  return new Problem(409, detail, { cause });
}

/** For one that ended while it was observed, or without having done its work: how, and what it wrote about it. */
export function failedToStay(
  { processName, block: { oneshot } }: NamedBlock,
  exit: ExitRecord | null,
  errorLine: string | null,
): Problem {
  const failed = oneshot === true ? 'failed' : 'failed to stay running';
  const how = exit === null || exit.code === null ? (exit?.signal ?? 'unknown') : `exit code ${exit.code}`;
  return new Problem(500, `${processName} ${failed} (${how})${errorLine === null ? '' : `: ${errorLine}`}`);
}

export function refusedStart(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(500, `Failed to setup project: ${errorText(error)}`, { cause: error });
}
