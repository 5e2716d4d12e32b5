// `stackwarden attach`: follows the output of one service for as long as it runs, and passes typed lines on to it if
// its block says `stdin: true`.
import { setTimeout as delay } from 'node:timers/promises';
import type { Command, CommandCall, HostClient } from '#core';
import { hostAnswer } from '#kit/host-answer';
import { namesThatFit } from '#kit/name-pattern';
import { gapIn, LogReader } from '../client/log-reader.ts';
import { processNames } from '../client/process-names.ts';

const LINES_BEFORE = 10;
const POLL_MS = 300;

interface Details {
  readonly status: string;
  readonly config: { readonly stdin?: boolean };
}

const command: Command = {
  summary: 'follow the output of a service while it runs, and send it the lines that you type',
  arguments: [{ syntax: '<NAME>', description: 'name of the service', offer: processNames }],
  async run(call) {
    const { host, output } = call;
    const name = await oneName(call);
    const { status, config } = hostAnswer<Details>(await host.get('/process', { process_name: name }), {
      status: '',
      config: {},
    });
    if (status === 'stopped') throw new Error(`${name} does not run; stackwarden logs shows what it wrote`);
    const hasInput = config.stdin === true;
    const input = hasInput
      ? 'each line that you type is sent to it'
      : 'it has no input; stdin: true in its block gives it one';
    output.note(`following ${name}; ${input}. Ctrl-C leaves it running`);
    const followed = follow(name, call);
    await (hasInput ? Promise.race([followed, passOn(name, host).then(() => followed)]) : followed);
    output.note(`${name} has stopped`);
    return 0;
  },
};

export default command;

async function oneName({ args: [wanted = ''], host }: CommandCall): Promise<string> {
  const [name = wanted, other] = namesThatFit(await processNames(host), [wanted]);
  if (other !== undefined) throw new Error(`'${wanted}' fits ${name} and ${other}; name one of them`);
  return name;
}

/** Resolves when the service has stopped and all its output was shown. */
async function follow(name: string, { host, output }: CommandCall): Promise<void> {
  const log = new LogReader(host, name, undefined);
  let lines = await log.tail(LINES_BEFORE);
  for (let isLast = false; ; lines = await log.further()) {
    if (log.hasGap) output.note(gapIn(log));
    if (lines.length > 0) output.line(lines.join('\n'));
    if (isLast) return;
    await output.written();
    await delay(POLL_MS);
    // Asked before the lines are read, so that the last lines of the service are shown, too.
    isLast = !(await isUp(name, host));
  }
}

/** Resolves at the end of the command's input; the input of the service stays open. */
async function passOn(name: string, host: HostClient): Promise<void> {
  for await (const text of process.stdin.setEncoding('utf8'))
    await host.post('/process/input', { process_name: name, text });
}

async function isUp(name: string, host: HostClient): Promise<boolean> {
  const answer = await host.get('/process/service-status', { process_name: name });
  return hostAnswer<{ readonly status: string }>(answer, { status: '' }).status !== 'stopped';
}
