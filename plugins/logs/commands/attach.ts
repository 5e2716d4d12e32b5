// `stackwarden attach`: follows the output of one service for as long as it runs.
import { setTimeout as delay } from 'node:timers/promises';
import type { Command, HostClient } from '#core';
import { namesThatFit } from '#kit/name-pattern';
import { LogReader } from '../client/log-reader.ts';
import { processNames } from '../client/process-names.ts';

const LINES_BEFORE = 10;
const POLL_MS = 300;

const command: Command = {
  summary: 'follow the output of a service for as long as it runs',
  arguments: [{ syntax: '<NAME>', description: 'name of the service', offer: processNames }],
  async run({ args: [wanted = ''], host, output }) {
    const [name = wanted, other] = namesThatFit(await processNames(host), [wanted]);
    if (other !== undefined) throw new Error(`'${wanted}' fits ${name} and ${other}; name one of them`);
    if (!(await isUp(name, host))) throw new Error(`${name} does not run; stackwarden logs shows what it wrote`);
    output.note(`following ${name}; what is typed does not reach it. Ctrl-C leaves it running`);
    const log = new LogReader(host, name, undefined);
    let lines = await log.tail(LINES_BEFORE);
    for (let isLast = false; ; lines = await log.further()) {
      if (lines.length > 0) output.line(lines.join('\n'));
      if (isLast) break;
      await delay(POLL_MS);
      // Asked before the lines, so that those it wrote at its end are read.
      isLast = !(await isUp(name, host));
    }
    output.note(`${name} has stopped`);
    return 0;
  },
};

export default command;

async function isUp(name: string, host: HostClient): Promise<boolean> {
  const { status } = (await host.get('/process/service-status', { process_name: name })) as { readonly status: string };
  return status !== 'stopped';
}
