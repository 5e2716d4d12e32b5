// The names of the processes that have a log.
import type { HostClient } from '#core';
import { hostAnswer } from '#kit/host-answer';

interface Processes {
  readonly processes: readonly { readonly process_name: string }[];
}

export async function processNames(host: HostClient): Promise<readonly string[]> {
  const answer = await host.get('/process/processes');
  const { processes } = hostAnswer<Processes>(answer, { processes: [{ process_name: '' }] });
  return processes.map(({ process_name: name }) => name);
}
