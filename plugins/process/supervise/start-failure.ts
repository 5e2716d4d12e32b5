// Why a start did not succeed, as whoever asked for it is told.
import { type Host, type NamedBlock, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { redact } from '#kit/redact';
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

/** It is kept and told in many places, and may quote a command or an address with a secret in it. */
export function refusedStart(error: unknown): Problem {
  const setup = () => new Problem(500, `Failed to setup project: ${errorText(error)}`, { cause: error });
  const problem = error instanceof Problem ? error : setup();
  const { status, message, code, extra, headers } = problem;
  const masked = redact(message);
  if (masked === message) return problem;
  return new Problem(status, masked, { ...(code === undefined ? {} : { code }), extra, headers, cause: error });
}
