// `stackwarden status`: a row for each service: how it is, since when, and what it uses.
import { setTimeout as delay } from 'node:timers/promises';
import type { Command, HostClient, Painted } from '#core';
import { byteText } from '#kit/byte-text';
import { hostAnswer } from '#kit/host-answer';
import { spanText } from '#kit/span-text';
import { chosenServices, isInUse, readServices, type Service, serviceNames } from '../client/services.ts';

const WATCH_MS = 2_000;
const MS_PER_S = 1_000;
const TITLES = ['NAME', 'STATUS', 'HEALTH', 'PID', 'UPTIME', 'CPU', 'MEMORY', 'RESTARTS'];
const NONE = '-';
const STATUS_COLOURS: Readonly<Record<string, Painted['colour']>> = {
  running: 'green',
  stopped: 'grey',
  starting: 'yellow',
  stopping: 'yellow',
};
const HEALTH_COLOURS: Readonly<Record<string, Painted['colour']>> = {
  healthy: 'green',
  starting: 'yellow',
  degraded: 'yellow',
  unhealthy: 'red',
};

/** One element of what `--json` prints; members are only ever added. */
interface Row {
  readonly name: string;
  readonly enabled: boolean;
  readonly status: string;
  readonly health: string | null;
  readonly health_reason: string | null;
  readonly pid: number | null;
  readonly uptime_seconds: number | null;
  /** Percent of one processor; null until it is known, and when the host takes no metrics. */
  readonly cpu_percent: number | null;
  readonly memory_bytes: number | null;
  readonly restarts: number;
}

interface Sample {
  readonly dumb_managed: readonly Usage[];
}

interface Usage {
  readonly name: string;
  readonly cpu_percent: number | null;
  readonly rss: number;
}

const command: Command = {
  summary: 'list the services: status, health, uptime, CPU, memory, restarts',
  arguments: [
    {
      syntax: '[NAME...]',
      description: 'names or patterns such as "Example *"; without them, all that are enabled or run',
      offer: serviceNames,
    },
  ],
  options: [
    { flags: '-a, --all', description: 'also services that are disabled and do not run' },
    { flags: '--json', description: 'print a JSON list with an object for each service' },
    { flags: '-w, --watch', description: `print it again every ${WATCH_MS / MS_PER_S} s, until Ctrl-C` },
  ],
  async run({ args, options, host, output }) {
    for (;;) {
      const rows = await readRows(host, services => selected(services, args, options.all === true));
      if (options.watch) output.clear();
      if (options.json) output.json(rows);
      else output.table(TITLES, rows.map(cellsOf));
      if (!options.watch) return 0;
      await output.written();
      await delay(WATCH_MS);
    }
  },
};

export default command;

function selected(services: readonly Service[], patterns: readonly string[], all: boolean): readonly Service[] {
  const candidates = all ? services : services.filter(isInUse);
  return patterns.length > 0 ? chosenServices(services, patterns, candidates) : candidates;
}

async function readRows(
  host: HostClient,
  select: (services: readonly Service[]) => readonly Service[],
): Promise<readonly Row[]> {
  const [services, usages] = await Promise.all([readServices(host), readUsages(host)]);
  const nowS = Date.now() / MS_PER_S;
  return select(services).map(service => {
    const usage = usages.get(service.process_name);
    const { started_at: startedAt, pid } = service;
    return {
      name: service.process_name,
      enabled: service.enabled,
      status: service.status,
      health: service.health_status,
      health_reason: service.health_reason,
      pid,
      uptime_seconds: pid === null || startedAt === null ? null : Math.max(0, Math.floor(nowS - startedAt)),
      cpu_percent: usage?.cpu_percent ?? null,
      memory_bytes: usage?.rss ?? null,
      restarts: service.restart.restart_attempts,
    };
  });
}

/** Empty when the host takes no metrics or has none yet, because the other columns are useful all the same. */
async function readUsages(host: HostClient): Promise<ReadonlyMap<string, Usage>> {
  const sample = await host.find('/metrics').catch(() => undefined);
  if (sample === undefined) return new Map();
  const { dumb_managed: usages } = hostAnswer<Sample>(sample, { dumb_managed: [{ name: '', rss: 0 }] });
  return new Map(usages.map(usage => [usage.name, usage]));
}

function cellsOf(row: Row): readonly (string | Painted)[] {
  const { uptime_seconds: uptimeS, cpu_percent: cpuPercent, memory_bytes: memoryBytes } = row;
  return [
    row.name,
    painted(row.status, STATUS_COLOURS),
    painted(row.health ?? NONE, HEALTH_COLOURS),
    String(row.pid ?? NONE),
    uptimeS === null ? NONE : spanText(uptimeS),
    cpuPercent === null ? NONE : `${cpuPercent.toFixed(1)}%`,
    memoryBytes === null ? NONE : byteText(memoryBytes),
    String(row.restarts),
  ];
}

function painted(text: string, colours: Readonly<Record<string, Painted['colour']>>): string | Painted {
  const colour = colours[text];
  return colour === undefined ? text : { text, colour };
}
