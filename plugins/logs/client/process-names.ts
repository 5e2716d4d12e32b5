// The names of the processes that have a log.
import type { HostClient } from '#core';

export async function processNames(host: HostClient): Promise<readonly string[]> {
  const answer = (await host.get('/process/processes')) as {
    readonly processes: readonly { readonly process_name: string }[];
  };
  return answer.processes.map(({ process_name: name }) => name);
}
