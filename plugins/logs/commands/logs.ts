// `stackwarden logs`: prints the newest lines of logs, and with `--follow` the lines that are added.
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '#core';
import { findLevel, LEVELS } from '#kit/log-level';
import { namesThatFit } from '#kit/name-pattern';
import { gapIn, LogReader } from '../client/log-reader.ts';
import { processNames } from '../client/process-names.ts';

const DEFAULT_LINES = 100;
const MAX_LINES = 100_000;
const POLL_MS = 300;
/** The name under which the host serves its own log, whatever its entry is called. */
const OWN_LOG = 'DUMB API';

const command: Command = {
  summary: 'print the newest lines of logs, and follow them',
  arguments: [
    {
      syntax: '[NAME...]',
      description: "services or patterns; without them the host's own log, which has the output of all services",
      offer: processNames,
    },
  ],
  options: [
    { flags: '-f, --follow', description: 'go on with new lines, until Ctrl-C' },
    {
      flags: '-n, --lines <COUNT>',
      description: `number of lines of each log (default: ${DEFAULT_LINES})`,
      range: [0, MAX_LINES],
    },
    { flags: '--level <LEVEL>', description: 'only lines of this level or a higher one', choices: LEVELS },
  ],
  async run({ args, options, host, output }) {
    const names = args.length === 0 ? [OWN_LOG] : namesThatFit(await processNames(host), args);
    const threshold = options.level === undefined ? undefined : findLevel(String(options.level));
    const logs = names.map(name => ({
      reader: new LogReader(host, name, threshold),
      prefix: names.length > 1 ? `${name} | ` : '',
    }));
    const print = (prefix: string, lines: readonly string[]): void => {
      if (lines.length > 0) output.line(lines.map(line => prefix + line).join('\n'));
    };
    for (const { reader, prefix } of logs) print(prefix, await reader.tail(Number(options.lines ?? DEFAULT_LINES)));
    while (options.follow) {
      await output.written();
      await delay(POLL_MS);
      for (const { reader, prefix } of logs) {
        const lines = await reader.further();
        if (reader.hasGap) output.note(gapIn(reader));
        print(prefix, lines);
      }
    }
    return 0;
  },
};

export default command;
