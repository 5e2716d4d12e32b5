// `stackwarden events`: prints one line for each past event, and with `--follow` for each new one.
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '#core';
import { hostAnswer } from '#kit/host-answer';
import { fitsPattern } from '#kit/name-pattern';

const POLL_MS = 500;
const MS_PER_S = 1_000;

interface HostEvent {
  readonly type: string;
  readonly at: number;
  /** An object for every type of the product; plugins of others may emit any JSON. */
  readonly data: unknown;
}

interface EventsAnswer {
  readonly events: readonly HostEvent[];
  readonly last: number;
}

const command: Command = {
  summary: 'print the events since the host was started',
  options: [
    { flags: '-f, --follow', description: 'go on with new events, until Ctrl-C' },
    { flags: '--type <PATTERN>', description: 'only events of these types, for example "service.*"' },
    { flags: '--json', description: 'print each event as a JSON object on its own line' },
  ],
  async run({ options, host, output }) {
    const pattern = String(options.type ?? '*');
    for (let after = '0'; ; ) {
      const { events, last } = hostAnswer<EventsAnswer>(await host.get('/host/events', { after }), {
        events: [{ type: '', at: 0 }],
        last: 0,
      });
      for (const event of events)
        if (fitsPattern(event.type, pattern)) output.line(options.json ? JSON.stringify(event) : textOf(event));
      after = String(last);
      if (!options.follow) return 0;
      await output.written();
      await delay(POLL_MS);
    }
  },
};

export default command;

function textOf({ type, at, data }: HostEvent): string {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  const { processName, ...others }: Record<string, unknown> = isObject
    ? { ...data }
    : data === undefined
      ? {}
      : { data };
  const members = Object.entries(others).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const time = new Date(at * MS_PER_S).toISOString();
  return [time, type, ...(typeof processName === 'string' ? [processName] : []), ...members]
    .join('  ')
    .replaceAll('\n', ' ');
}
