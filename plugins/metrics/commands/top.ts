// `stackwarden top`: what the machine and each service use, the busiest first.
import { setTimeout as delay } from 'node:timers/promises';
import type { Command, CommandOutput } from '#core';
import { byteText } from '#kit/byte-text';
import { hostAnswer } from '#kit/host-answer';
import { spanText } from '#kit/span-text';

const DEFAULT_INTERVAL_S = 2;
const MAX_INTERVAL_S = 3_600;
const MAX_COUNT = 1_000_000;
const MS_PER_S = 1_000;
const TITLES = ['NAME', 'PID', 'CPU', 'MEMORY', 'PROCESSES', 'THREADS', 'READ', 'WRITTEN', 'UPTIME'];
const NONE = '-';
/** What each sample has, whatever the machine tells. */
const EXAMPLE = {
  timestamp: 0,
  system: { cpu_count: 0, mem: {} },
  dumb_managed: [{ name: '', pid: 0, rss: 0, process_count: 0, threads: 0, start_time: 0 }],
};

interface Sample {
  readonly timestamp: number;
  readonly system: {
    readonly cpu_percent: number | null;
    readonly cpu_count: number;
    readonly load_avg: readonly number[] | null;
    readonly mem: { readonly total: number | null; readonly used: number | null };
  };
  readonly dumb_managed: readonly {
    readonly name: string;
    readonly pid: number;
    readonly cpu_percent: number | null;
    readonly rss: number;
    readonly process_count: number;
    readonly threads: number;
    readonly start_time: number;
    readonly disk_io: { readonly read_bytes: number; readonly write_bytes: number } | null;
  }[];
}

const command: Command = {
  summary: 'show what the machine and each service use, the busiest first',
  options: [
    {
      flags: '-n, --count <COUNT>',
      description: 'how often to print (default: until Ctrl-C; once without a terminal)',
      range: [1, MAX_COUNT],
    },
    {
      flags: '-i, --interval <SECONDS>',
      description: `time between two prints (default: ${DEFAULT_INTERVAL_S})`,
      range: [1, MAX_INTERVAL_S],
    },
  ],
  async run({ options, host, output }) {
    const count = Number(options.count ?? (output.isTerminal ? Number.POSITIVE_INFINITY : 1));
    const intervalMs = Number(options.interval ?? DEFAULT_INTERVAL_S) * MS_PER_S;
    for (let shown = 1; ; shown += 1) {
      const sample = hostAnswer<Sample>(await host.get('/metrics'), EXAMPLE);
      output.clear();
      show(sample, output);
      if (shown >= count) return 0;
      await output.written();
      await delay(intervalMs);
    }
  },
};

export default command;

function show({ timestamp, system, dumb_managed: services }: Sample, output: CommandOutput): void {
  const { cpu_percent: cpuPercent, cpu_count: cpus, load_avg: load, mem } = system;
  const loadText = load === null ? NONE : load.map(value => value.toFixed(2)).join(' ');
  output.line(
    `CPU ${percent(cpuPercent)} of ${cpus}, load ${loadText}, memory ${bytes(mem.used)} of ${bytes(mem.total)}`,
  );
  const busiestFirst = services.toSorted((a, b) => (b.cpu_percent ?? 0) - (a.cpu_percent ?? 0) || b.rss - a.rss);
  output.table(
    TITLES,
    busiestFirst.map(service => [
      service.name,
      String(service.pid),
      percent(service.cpu_percent),
      bytes(service.rss),
      String(service.process_count),
      String(service.threads),
      bytes(service.disk_io?.read_bytes ?? null),
      bytes(service.disk_io?.write_bytes ?? null),
      spanText(timestamp - service.start_time),
    ]),
  );
}

function percent(value: number | null): string {
  return value === null ? NONE : `${value.toFixed(1)}%`;
}

function bytes(value: number | null): string {
  return value === null ? NONE : byteText(value);
}
