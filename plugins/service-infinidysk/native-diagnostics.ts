// Collects InfiniDysk's settings and its figures about segments, reads and the queue in a time window. Its databases
// are read with the rights of its user and by fixed statements; of its providers only numbers are reported.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { NamedBlock } from '#core';
import { requireAnswer } from '#kit/answering';
import { isObject } from '#kit/plain-object';
import { useDatabaseAs } from '#kit/sqlite-as-user';
import type { NativeCollector, TimeSpan } from '../ai/contract.ts';
import { queueOf } from './queue-windows.ts';

const LIMIT_MS = 5_000;
const DEFAULT_PLACE = '/infinidysk';
const COMPARED = [
  'successful_average_ms',
  'missing_percent',
  'error_percent',
  'retries_per_100',
  'average_duration_ms',
];
const LIMITATIONS = [
  'How long a viewer waits from the click to the first frame is not measured.',
  'Differences are correlation, unless a recorded change is where the window begins.',
];
/** The type of providers whose connections form one pool. */
const POOLED = 1;

const READ_SETTINGS = `db => Object.fromEntries(db.prepare(
  "SELECT ConfigName, ConfigValue FROM ConfigItems WHERE ConfigName IN ('queue.worker-count', " +
  "'usenet.max-queue-connections', 'usenet.providers', 'usenet.streaming-priority', 'usenet.pipelining.enabled', " +
  "'usenet.pipelining.depth')").raw().all())`;

/** Some columns have other names in other versions; a number whose column is missing is null. */
const READ_NUMBERS = `(db, { fromMs, toMs }) => {
  const columns = table => new Set(db.pragma('table_info(' + table + ')').map(({ name }) => name))
  const one = (known, names) => names.find(name => known.has(name)) ?? 'NULL'
  const segments = columns('SegmentFetches')
  const sessions = columns('ReadSessions')
  const took = one(segments, ['DurationMs', 'ElapsedMs', 'LatencyMs'])
  const retries = one(segments, ['Retries', 'RetryCount'])
  const fetches = where => db.prepare('SELECT count(*) AS count, sum(Status = 0) AS ok, sum(Status = 1) AS missing, ' +
    'sum(Status > 1) AS errors, sum(' + retries + ') AS retries, avg(CASE WHEN Status = 0 THEN ' + took +
    ' END) AS successful FROM SegmentFetches WHERE At >= ? AND At < ?' + where).get(fromMs, toMs)
  const at = one(sessions, ['At', 'StartedAt', 'EndedAt'])
  const reads = at === 'NULL' ? null : db.prepare('SELECT count(*) AS count, ' +
    'sum(' + one(sessions, ['BytesServed']) + ') AS served, sum(' + one(sessions, ['BytesFetched']) + ') AS fetched, ' +
    'avg(' + one(sessions, ['DurationMs']) + ') AS duration, sum(EndReason = 3) AS errors FROM ReadSessions WHERE ' +
    at + ' >= ? AND ' + at + ' < ?').get(fromMs, toMs)
  return { all: fetches(''), read: fetches(segments.has('ReadSessionId') ? ' AND ReadSessionId IS NOT NULL' : ' AND 0'), reads }
}`;

type ServiceUser = { readonly uid: number; readonly gid: number } | null;
type Numbers = Record<string, number | null>;

/** The answer to `ai.native-collector`. `user` is the one whose rights are used to read; null for the host's. */
export async function collectNative(
  { service, window: { current, baseline }, lines, signal }: Parameters<NativeCollector['collect']>[0],
  user: ServiceUser,
): Promise<Record<string, unknown>> {
  const place = await placeOf(service);
  const use = (name: string, work: string, input: unknown) =>
    useDatabaseAs({ file: path.join(place, name), user, access: 'read', work, input, limitMs: LIMIT_MS, signal });
  const sections = async (span: TimeSpan) => sectionsOf(await use('metrics.sqlite', READ_NUMBERS, span));
  const [config, metrics] = await Promise.all([
    use('db.sqlite', READ_SETTINGS, null).then(settingsOf, unavailable),
    Promise.all([sections(current), baseline === null ? undefined : sections(baseline)]).then(
      ([now, before]) => ({
        metrics: {
          current: now,
          ...(before === undefined ? {} : { baseline: before, changes: changesOf(now, before) }),
        },
      }),
      (error: Error) => ({ metrics_error: error.message }),
    ),
  ]);
  const available = config.available === true || 'metrics' in metrics;
  const queue = lines === undefined ? {} : { queue: queueOf(lines) };
  return { available, config, ...metrics, ...queue, limitations: LIMITATIONS };
}

/** The directory of the databases. Throws an Error when it is not in a directory that the block declares. */
async function placeOf({ processName, block }: NamedBlock): Promise<string> {
  const env = isObject(block.env) ? block.env : {};
  const given = [env.CONFIG_PATH, block.config_dir, block.config_path].find(isPath) ?? DEFAULT_PLACE;
  const directory = /\.(?:sqlite|db|json)$/.test(given) ? path.dirname(given) : given;
  const declared = [block.config_dir, block.config_path, env.CONFIG_PATH]
    .filter(isPath)
    .map(name => path.resolve(name));
  await requireAnswer([directory]);
  const real = await realpath(directory);
  const isDeclared = [DEFAULT_PLACE, ...declared].some(own => real === own || real.startsWith(`${own}/`));
  if (!isDeclared) throw new Error(`${directory} leads out of the directories of ${processName}`);
  return real;
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && path.isAbsolute(value);
}

function unavailable(error: Error): Record<string, unknown> {
  return { available: false, reason: error.message };
}

function settingsOf(read: unknown): Record<string, unknown> {
  const values = isObject(read) ? read : {};
  const providers = providersIn(values['usenet.providers']);
  return {
    available: true,
    queue_worker_count: numberIn(values['queue.worker-count']),
    max_queue_connections: numberIn(values['usenet.max-queue-connections']),
    total_pooled_connections: providers?.filter(({ Type }) => Type === POOLED).reduce(connections, 0) ?? null,
    provider_count: providers?.length ?? null,
    streaming_priority: numberIn(values['usenet.streaming-priority']),
    pipelining_enabled: booleanIn(values['usenet.pipelining.enabled']),
    pipelining_depth: numberIn(values['usenet.pipelining.depth']),
  };
}

function connections(sum: number, { MaxConnections: more }: Record<string, unknown>): number {
  return sum + (typeof more === 'number' ? more : 0);
}

function providersIn(value: unknown): Record<string, unknown>[] | null {
  try {
    const { Providers: list } = JSON.parse(String(value)) as { readonly Providers?: unknown };
    return Array.isArray(list) ? list.filter(isObject) : null;
  } catch {
    return null;
  }
}

function numberIn(value: unknown): number | null {
  const number = value === undefined || value === null || value === '' ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}

function booleanIn(value: unknown): boolean | null {
  return value === 'true' ? true : value === 'false' ? false : null;
}

function sectionsOf(read: unknown): Record<string, Numbers> {
  const { all, read: ofReads, reads } = isObject(read) ? read : {};
  const sessions = isObject(reads) ? reads : {};
  const count = numberIn(sessions.count) ?? 0;
  return {
    segment_fetches: fetchesOf(all),
    read_segment_fetches: fetchesOf(ofReads),
    read_sessions: {
      count,
      bytes_served: numberIn(sessions.served),
      bytes_fetched: numberIn(sessions.fetched),
      average_duration_ms: rounded(numberIn(sessions.duration)),
      errors: numberIn(sessions.errors),
      error_percent: share(numberIn(sessions.errors), count),
    },
  };
}

function fetchesOf(row: unknown): Numbers {
  const { ok, missing, errors, retries, successful, count: total } = isObject(row) ? row : {};
  const count = numberIn(total) ?? 0;
  return {
    count,
    ok: numberIn(ok) ?? 0,
    missing: numberIn(missing) ?? 0,
    errors: numberIn(errors) ?? 0,
    retries: numberIn(retries),
    missing_percent: share(numberIn(missing), count),
    error_percent: share(numberIn(errors), count),
    retries_per_100: share(numberIn(retries), count),
    successful_average_ms: rounded(numberIn(successful)),
  };
}

/** `part` in percent of `count`; null when that is unknown. */
function share(part: number | null, count: number): number | null {
  return part === null || count === 0 ? null : rounded((part / count) * 100);
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 100) / 100;
}

/** The change of each compared number in percent, by section. */
function changesOf(now: Record<string, Numbers>, before: Record<string, Numbers>): Record<string, Numbers> {
  const changes = Object.entries(now).map(([section, numbers]) => {
    const compared = COMPARED.flatMap(name => {
      const [value, base] = [numbers[name], before[section]?.[name]];
      if (typeof value !== 'number' || typeof base !== 'number' || base === 0) return [];
      return [[`${name}_percent`, rounded(((value - base) / base) * 100)]];
    });
    return [section, Object.fromEntries(compared)];
  });
  return Object.fromEntries(changes) as Record<string, Numbers>;
}
