// Why a start did not succeed: the Problems for its requester, and the line of the log.
import { type Host, type NamedBlock, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { namedReason } from '#kit/named-reason';
import { redact } from '#kit/redact';
import type { ExitRecord, StartTrigger } from '../contract.ts';
import type { Supervision } from './supervision.ts';

/** `hasEntry` tells whether the configuration still has the process. */
export function cancelled(
  what: 'Start' | 'Restart',
  processName: string,
  { host, hasEntry, cause }: { readonly host: Host; readonly hasEntry: boolean; readonly cause: unknown },
): Problem {
  // All requests get this answer during a shutdown.
  if (host.stopping !== null) return new Problem(503, 'The service is shutting down', { cause });
  if (!hasEntry)
    return new Problem(
      409,
      `${what} of ${processName} was cancelled, because its entry is gone from the configuration; add the entry again if it is to run`,
      { cause },
    );
  return new Problem(409, `${what} of ${processName} was cancelled by a stop; start it again if it is to run`, {
    cause,
  });
}

/**
 * For a process that ended while it was observed, or without having done its work: how it ended, and what it wrote
 * about that.
 */
export function failedToStay(
  { processName, block: { oneshot } }: NamedBlock,
  exit: ExitRecord | null,
  errorLine: string | null,
): Problem {
  const failed = oneshot === true ? 'failed' : 'failed to stay running';
  const how = exit === null || exit.code === null ? (exit?.signal ?? 'unknown') : `exit code ${exit.code}`;
  return new Problem(500, `${processName} ${failed} (${how})${errorLine === null ? '' : `: ${errorLine}`}`);
}

/**
 * The Problem of a refused start. Secrets in it are masked, because its message is shown in many places, and may quote
 * a command or an address.
 */
export function refusedStart(error: unknown): Problem {
  const setup = () => new Problem(500, `Failed to setup project: ${errorText(error)}`, { cause: error });
  const problem = error instanceof Problem ? error : setup();
  const { status, message, code, extra, headers } = problem;
  const masked = redact(message);
  if (masked === message) return problem;
  return new Problem(status, masked, { ...(code === undefined ? {} : { code }), extra, headers, cause: error });
}

/** Logs a failed start. Automatic restarts log their own failures. */
export function tellFailure(
  processName: string,
  { reason, error, trigger }: { readonly reason: string; readonly error: unknown; readonly trigger: StartTrigger },
  { host }: Pick<Supervision, 'host'>,
): void {
  if (trigger !== 'auto-restart') host.log.error(namedReason(processName, reason), error);
}
