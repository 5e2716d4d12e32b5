// `stackwarden health`: asks the running host for its health, for use as a container's health check, which knows only
// the exit codes 0 and 1.
import type { CommandCall } from '../contract/command.ts';
import { detailOf, exchange, isHealthAnswer, refuseElsewhere } from './host-client.ts';

const PATH = '/health';
const LIMIT_MS = 10_000;

/** Resolves with 0 when the host is healthy, else with 1. */
export async function health({ host, output }: CommandCall): Promise<number> {
  const url = await host.url();
  const asked = { method: 'GET', body: undefined, token: undefined, timeoutMs: LIMIT_MS };
  const answer = await exchange(url + PATH, asked).catch((error: Error) => {
    throw new Error(error.message, { cause: error });
  });
  if (isHealthAnswer(answer.body)) {
    const { status, details } = answer.body;
    output.line([status, details].filter(Boolean).join(': '));
    return status === 'healthy' ? 0 : 1;
  }
  await refuseElsewhere(answer, { url, path: PATH });
  output.line(detailOf(answer) ?? `what answers is no Stackwarden (HTTP ${answer.status}); look at the address`);
  return 1;
}
