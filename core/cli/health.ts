// `stackwarden health`: asks the running service for its health, for use as a container's health check.
import type { CommandLine } from './command-line.ts';
import { addressOf, nothingAnswers } from './running-service.ts';

const LIMIT_MS = 10_000;

/** Resolves with 0 when the service is healthy. */
export async function health({ configDir }: CommandLine): Promise<number> {
  const url = `${await addressOf(configDir)}/health`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) }).catch((error: Error) => {
    throw nothingAnswers(url, error);
  });
  const body = (await answer.json().catch(() => ({}))) as { status?: string; details?: string };
  console.log([body.status ?? `HTTP ${answer.status}`, body.details].filter(Boolean).join(': '));
  return body.status === 'healthy' ? 0 : 1;
}
