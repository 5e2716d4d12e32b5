// `stackwarden health`: asks the running host for its health, for use as a container's health check, which knows only
// the exit codes 0 and 1.
import type { CommandCall } from '../contract/command.ts';
import { exchange, refuseElsewhere } from './host-client.ts';

const PATH = '/health';
const LIMIT_MS = 10_000;

/** Resolves with 0 when the host is healthy, else with 1. */
export async function health({ host, output }: CommandCall): Promise<number> {
  const url = await host.url();
  const asked = { method: 'GET', body: undefined, token: undefined, timeoutMs: LIMIT_MS };
  const answer = await exchange(url + PATH, asked).catch((error: Error) => {
    throw new Error(error.message, { cause: error });
  });
  const body = (answer.body ?? {}) as { status?: string; details?: string; detail?: string };
  if (body.status === undefined) await refuseElsewhere(answer, { url, path: PATH });
  const foreign = `what answers is no Stackwarden (HTTP ${answer.status}); look at the address`;
  output.line([body.status ?? body.detail ?? foreign, body.details].filter(Boolean).join(': '));
  return body.status === 'healthy' ? 0 : 1;
}
