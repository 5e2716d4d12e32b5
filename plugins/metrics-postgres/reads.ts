// Reads the tables for charts and lists of samples.
import type { HistoryStoreStatus, Ranges, StoredItem, StoredPayload, TimeSpan } from '../metrics-history/contract.ts';
import type { Connection } from './connection.ts';

const CURVES = ['cpu', 'mem', 'disk', 'inode'] as const;
const COUNTERS = ['disk_read', 'disk_write', 'net_sent', 'net_recv'] as const;
const FILE_SYSTEM = 0;
/** How long each of the two queries for minima and maxima may take. */
const RANGES_MS = 3_000;

interface Bounds {
  readonly oldest: number | null;
  readonly newest: number | null;
}

export async function bounds(connection: Connection): Promise<Bounds> {
  const [row] = await connection.read<Bounds & Record<string, unknown>>(
    'SELECT min(timestamp) AS oldest, max(timestamp) AS newest FROM metrics_snapshots',
  );
  return { oldest: row?.oldest ?? null, newest: row?.newest ?? null };
}

/** The last sample of each bucket of the span, found by one index lookup for each bucket. */
export async function lastOfBuckets(
  connection: Connection,
  { from, before, bucketSeconds }: TimeSpan & { readonly bucketSeconds: number },
): Promise<StoredItem[]> {
  return connection.read<Record<keyof StoredItem, never>>(
    `WITH known AS (
       SELECT min(timestamp) AS oldest, max(timestamp) AS newest FROM metrics_snapshots
       WHERE timestamp >= $1::float8 AND timestamp < $2::float8)
     SELECT last.timestamp, coalesce(item, payload) AS payload, item IS NOT NULL AS "isItem"
     FROM known
     CROSS JOIN generate_series(floor(oldest / $3::float8)::bigint, floor(newest / $3::float8)::bigint) AS bucket
     CROSS JOIN LATERAL (
       SELECT timestamp, payload FROM metrics_snapshots
       WHERE timestamp >= greatest(bucket * $3::float8, $1::float8)
         AND timestamp < least((bucket + 1) * $3::float8, $2::float8)
       ORDER BY timestamp DESC LIMIT 1) AS last
     LEFT JOIN metrics_points USING (timestamp)
     ORDER BY last.timestamp`,
    [from, before, bucketSeconds],
  );
}

export async function newestOf(
  connection: Connection,
  { from, before, limit }: TimeSpan & { readonly limit: number },
): Promise<{ readonly from: number | null; readonly truncated: boolean }> {
  const rows = await connection.read<{ timestamp: number }>(
    `SELECT timestamp FROM metrics_snapshots WHERE timestamp >= $1 AND timestamp < $2
     ORDER BY timestamp DESC OFFSET $3 LIMIT 2`,
    [from, before, Math.max(limit - 1, 0)],
  );
  if (limit === 0) return { from: null, truncated: rows.length > 0 };
  if (rows[0] !== undefined) return { from: rows[0].timestamp, truncated: rows.length > 1 };
  const [first] = await connection.read<{ oldest: number | null }>(
    'SELECT min(timestamp) AS oldest FROM metrics_snapshots WHERE timestamp >= $1 AND timestamp < $2',
    [from, before],
  );
  return { from: first?.oldest ?? null, truncated: false };
}

export async function page(
  connection: Connection,
  { after, before, limit }: { readonly after: number; readonly before: number; readonly limit: number },
): Promise<StoredPayload[]> {
  return connection.read<Record<keyof StoredPayload, never>>(
    `SELECT timestamp, payload FROM metrics_snapshots WHERE timestamp > $1 AND timestamp < $2
     ORDER BY timestamp LIMIT $3`,
    [after, before, limit],
  );
}

/**
 * The minima and maxima in a span. Rates are bytes per second between neighbouring samples, without those in which a
 * counter went back. `isWhole` is false when the server took too long.
 */
export async function ranges(
  connection: Connection,
  { from, before }: TimeSpan,
): Promise<{ readonly ranges: Ranges | null; readonly isWhole: boolean }> {
  const span = [from, before];
  const found = await connection.within(RANGES_MS, async statement => ({
    curves: await statement<Record<string, number | null>>(CURVE_RANGES, span),
    parts: await statement<PartRange>(PART_RANGES, span),
  }));
  if (found === undefined) return { ranges: null, isWhole: false };
  return { ranges: rangesOf(found.curves[0] ?? {}, found.parts), isWhole: true };
}

function rangesOf(row: Readonly<Record<string, number | null>>, parts: readonly PartRange[]): Ranges | null {
  const rangeOf = (key: string) => minMax(row[`${key}_min`], row[`${key}_max`]);
  const named = [
    ...CURVES.map(key => [key, rangeOf(key)] as const),
    ...COUNTERS.map(key => [`${key}_rate`, rangeOf(key)] as const),
  ];
  const known = Object.fromEntries(named.filter(([, range]) => range !== undefined));
  if (Object.keys(known).length + parts.length === 0) return null;
  const listed = (isFileSystem: boolean) => parts.filter(({ kind }) => (kind === FILE_SYSTEM) === isFileSystem);
  return {
    curves: known,
    filesystems: namesOf(listed(true), part => ({
      disk: minMax(part.first_min, part.first_max),
      inode: minMax(part.second_min, part.second_max),
    })),
    network_interfaces: namesOf(listed(false), part => ({
      sent_rate: minMax(part.first_rate_min, part.first_rate_max),
      recv_rate: minMax(part.second_rate_min, part.second_rate_max),
    })),
  };
}

export async function totals(
  connection: Connection,
  { database, schema }: { readonly database: string; readonly schema: string },
): Promise<NonNullable<HistoryStoreStatus['totals']>> {
  const [row] = await connection.read<Record<'samples' | 'raw' | 'stored' | 'relation', number> & Bounds>(
    `SELECT min(timestamp) AS oldest, max(timestamp) AS newest,
       (SELECT value::float8 FROM metrics_metadata WHERE key = 'samples') AS samples,
       (SELECT value::float8 FROM metrics_metadata WHERE key = 'raw_bytes') AS raw,
       (SELECT value::float8 FROM metrics_metadata WHERE key = 'compressed_bytes') AS stored,
       (pg_total_relation_size('metrics_snapshots') + pg_total_relation_size('metrics_metadata')
        + pg_total_relation_size('metrics_points') + pg_total_relation_size('metrics_point_parts'))::float8 AS relation
     FROM metrics_snapshots`,
  );
  return {
    database,
    schema,
    samples: row?.samples ?? 0,
    rawBytes: row?.raw ?? 0,
    storedBytes: row?.stored ?? 0,
    relationBytes: row?.relation ?? 0,
    oldest: row?.oldest ?? null,
    newest: row?.newest ?? null,
  };
}

const SPAN = '(round(timestamp * 1000) - lag(round(timestamp * 1000)) OVER neighbours) AS span_ms';

const CURVE_RANGES = `
  WITH points AS (
    SELECT ${CURVES.join(', ')}, ${COUNTERS.map(key => `${key} - lag(${key}) OVER neighbours AS ${key}`).join(', ')},
           ${SPAN}
    FROM metrics_points WHERE timestamp >= $1 AND timestamp < $2 WINDOW neighbours AS (ORDER BY timestamp))
  SELECT ${CURVES.map(key => `min(${key}) AS ${key}_min, max(${key}) AS ${key}_max`).join(', ')},
         ${COUNTERS.map(key => rates(key, key)).join(', ')}
  FROM points`;

const PART_RANGES = `
  WITH parts AS (
    SELECT kind, name, first, second, first - lag(first) OVER neighbours AS first_step,
           second - lag(second) OVER neighbours AS second_step, ${SPAN}
    FROM metrics_point_parts WHERE timestamp >= $1 AND timestamp < $2
    WINDOW neighbours AS (PARTITION BY kind, name ORDER BY timestamp))
  SELECT kind, name, min(first) AS first_min, max(first) AS first_max, min(second) AS second_min,
         max(second) AS second_max, ${rates('first_step', 'first_rate')}, ${rates('second_step', 'second_rate')}
  FROM parts GROUP BY kind, name`;

type PartRange = { readonly kind: number; readonly name: string } & Readonly<
  Record<`${'first' | 'second' | 'first_rate' | 'second_rate'}_${'min' | 'max'}`, number | null>
>;

function rates(step: string, name: string): string {
  return ['min', 'max']
    .map(which => `${which}(${step} / span_ms * 1000) FILTER (WHERE ${step} >= 0 AND span_ms > 0) AS ${name}_${which}`)
    .join(', ');
}

function minMax(min: number | null | undefined, max: number | null | undefined) {
  return typeof min === 'number' && typeof max === 'number' ? { min, max } : undefined;
}

/** The ranges by name of the path or interface; a range without a value is absent. */
function namesOf<Key extends string>(
  parts: readonly PartRange[],
  read: (part: PartRange) => Record<Key, ReturnType<typeof minMax>>,
): Record<string, Partial<Record<Key, { min: number; max: number }>>> {
  return Object.fromEntries(
    parts.map(part => [
      part.name,
      Object.fromEntries(Object.entries(read(part)).filter(([, range]) => range !== undefined)) as Partial<
        Record<Key, { min: number; max: number }>
      >,
    ]),
  );
}
