// The tables of the history in PostgreSQL, and what is written to them. The first two tables have the layout of an
// earlier program; payloads are JSON compressed with zlib.
import type { HistoryMark, KeptSample, StoredPayload } from '../metrics-history/contract.ts';
import type { Connection, Statement } from './connection.ts';

/** Rows in one statement: serializing more would block the event loop. */
const STATEMENT_ROWS = 100;
const CHUNK_ROWS = 1_000;
const TOTALS_MS = 5_000;
const HOUR_S = 3_600;
const FILE_SYSTEM = 0;
const INTERFACE = 1;

const TABLES = `
  CREATE TABLE IF NOT EXISTS metrics_snapshots (
    timestamp DOUBLE PRECISION PRIMARY KEY, payload BYTEA NOT NULL, raw_size BIGINT NOT NULL,
    stored_size BIGINT NOT NULL, created_at DOUBLE PRECISION NOT NULL);
  CREATE TABLE IF NOT EXISTS metrics_metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS metrics_snapshots_created_at ON metrics_snapshots (created_at);
  CREATE TABLE IF NOT EXISTS metrics_points (
    timestamp DOUBLE PRECISION PRIMARY KEY, cpu DOUBLE PRECISION, mem DOUBLE PRECISION, disk DOUBLE PRECISION,
    inode DOUBLE PRECISION, disk_read DOUBLE PRECISION, disk_write DOUBLE PRECISION, net_sent DOUBLE PRECISION,
    net_recv DOUBLE PRECISION);
  CREATE TABLE IF NOT EXISTS metrics_point_parts (
    timestamp DOUBLE PRECISION, kind SMALLINT, name TEXT, first DOUBLE PRECISION, second DOUBLE PRECISION,
    PRIMARY KEY (timestamp, kind, name));
  -- What charts need of a sample, where it was written since there is this column.
  ALTER TABLE metrics_points ADD COLUMN IF NOT EXISTS item BYTEA`;

const TOTALS = `
  INSERT INTO metrics_metadata
    SELECT counted.key, counted.value::text
    FROM (SELECT count(*)::bigint AS samples, coalesce(sum(raw_size), 0)::bigint AS raw_bytes,
                 coalesce(sum(stored_size), 0)::bigint AS compressed_bytes FROM metrics_snapshots) AS totals
    CROSS JOIN LATERAL (VALUES ('samples', samples), ('raw_bytes', raw_bytes), ('compressed_bytes', compressed_bytes))
      AS counted (key, value)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/**
 * Creates missing tables, and counts the totals anew, because other programs may have written or removed samples. If
 * counting takes too long, as in a history of years, the stored totals stay.
 */
export async function createTables(connection: Connection, schema: string): Promise<void> {
  await connection.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  await connection.query(TABLES);
  await connection.within(TOTALS_MS, statement => statement(TOTALS));
}

/** The mark up to which the samples of the file `id` were written to PostgreSQL. */
export async function readMark(connection: Connection, id: string): Promise<HistoryMark> {
  const [row] = await connection.query<{ value: string }>('SELECT value FROM metrics_metadata WHERE key = $1', [
    markKey(id),
  ]);
  return { id, seq: Number(row?.value ?? 0) };
}

/** Writes samples, replacing those of the same times, and the mark up to which they go, in one transaction. */
export async function writeSamples(
  connection: Connection,
  samples: readonly KeptSample[],
  mark: HistoryMark | undefined,
): Promise<void> {
  await connection.transaction(async statement => {
    for (let start = 0; start < samples.length; start += STATEMENT_ROWS) {
      const some = samples.slice(start, start + STATEMENT_ROWS);
      await writeSnapshots(statement, some);
      await writePoints(statement, some);
      await writeParts(statement, some);
    }
    if (mark !== undefined)
      await statement(
        'INSERT INTO metrics_metadata VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
        [markKey(mark.id), String(mark.seq)],
      );
  });
}

/** The members of `timestamps` at which PostgreSQL has no complete sample. */
export async function missingTimes(connection: Connection, timestamps: readonly number[]): Promise<number[]> {
  const rows = await connection.query<{ timestamp: number }>(
    `SELECT wanted.timestamp FROM unnest($1::float8[]) AS wanted (timestamp)
     WHERE NOT EXISTS (SELECT 1 FROM metrics_snapshots s JOIN metrics_points p USING (timestamp)
                       WHERE s.timestamp = wanted.timestamp)`,
    [timestamps],
  );
  return rows.map(({ timestamp }) => timestamp);
}

/** How many complete samples each hour has, by hours since 1970; hours without samples are absent. */
export async function samplesByHour(connection: Connection, from: number): Promise<ReadonlyMap<number, number>> {
  const rows = await connection.query<{ hour: number; samples: number }>(
    `SELECT floor(timestamp / 3600)::float8 AS hour, count(*)::float8 AS samples
     FROM metrics_snapshots JOIN metrics_points USING (timestamp) WHERE timestamp >= $1 GROUP BY 1`,
    [from],
  );
  return new Map(rows.map(({ hour, samples }) => [hour, samples]));
}

/** The times of the samples in an hour, in order; `hour` counts from 1970. */
export async function timesOfHour(connection: Connection, hour: number): Promise<number[]> {
  const rows = await connection.query<{ timestamp: number }>(
    'SELECT timestamp FROM metrics_snapshots WHERE timestamp >= $1 AND timestamp < $2 ORDER BY timestamp',
    [hour * HOUR_S, (hour + 1) * HOUR_S],
  );
  return rows.map(({ timestamp }) => timestamp);
}

export async function payloadsAt(connection: Connection, timestamps: readonly number[]): Promise<StoredPayload[]> {
  return connection.query<Record<keyof StoredPayload, never>>(
    'SELECT timestamp, payload FROM metrics_snapshots WHERE timestamp = ANY ($1::float8[]) ORDER BY timestamp',
    [timestamps],
  );
}

/** Removes samples older than `oldest`, a thousand at a time. Returns whether there may be more. */
export async function removeBefore(connection: Connection, oldest: number): Promise<boolean> {
  return connection.transaction(async statement => {
    const [chunk] = await statement<{ last: number | null; samples: number }>(
      `SELECT max(timestamp) AS last, count(*)::float8 AS samples FROM (
         SELECT timestamp FROM metrics_snapshots WHERE timestamp < $1 ORDER BY timestamp LIMIT ${CHUNK_ROWS}) AS chunk`,
      [oldest],
    );
    if (chunk === undefined || chunk.last === null) return false;
    const [gone] = await statement<Totals>(
      `WITH gone AS (DELETE FROM metrics_snapshots WHERE timestamp <= $1 RETURNING raw_size, stored_size)
       SELECT count(*)::float8 AS samples, coalesce(sum(raw_size), 0)::float8 AS raw_bytes,
              coalesce(sum(stored_size), 0)::float8 AS compressed_bytes FROM gone`,
      [chunk.last],
    );
    for (const table of ['metrics_points', 'metrics_point_parts'])
      await statement(`DELETE FROM ${table} WHERE timestamp <= $1`, [chunk.last]);
    if (gone !== undefined)
      await count(statement, {
        samples: -gone.samples,
        raw_bytes: -gone.raw_bytes,
        compressed_bytes: -gone.compressed_bytes,
      });
    return chunk.samples === CHUNK_ROWS;
  });
}

interface Totals {
  readonly samples: number;
  readonly raw_bytes: number;
  readonly compressed_bytes: number;
}

async function writeSnapshots(statement: Statement, samples: readonly KeptSample[]): Promise<void> {
  const sizes = samples.map(({ payload }) => payload.length);
  const raw = samples.map(({ rawBytes }) => rawBytes);
  const [replaced] = await statement<Totals>(
    `WITH replaced AS (
       SELECT count(*)::float8 AS samples, coalesce(sum(raw_size), 0)::float8 AS raw_bytes,
              coalesce(sum(stored_size), 0)::float8 AS compressed_bytes
       FROM metrics_snapshots WHERE timestamp = ANY ($1::float8[])),
     written AS (
       INSERT INTO metrics_snapshots (timestamp, payload, raw_size, stored_size, created_at)
       SELECT timestamp, payload, raw_size, stored_size, extract(epoch FROM now())
       FROM unnest($1::float8[], $2::bytea[], $3::bigint[], $4::bigint[])
         AS incoming (timestamp, payload, raw_size, stored_size)
       ON CONFLICT (timestamp) DO UPDATE SET payload = excluded.payload, raw_size = excluded.raw_size,
         stored_size = excluded.stored_size, created_at = excluded.created_at)
     SELECT * FROM replaced`,
    [timesOf(samples), samples.map(({ payload }) => payload), raw, sizes],
  );
  await count(statement, {
    samples: samples.length - (replaced?.samples ?? 0),
    raw_bytes: sum(raw) - (replaced?.raw_bytes ?? 0),
    compressed_bytes: sum(sizes) - (replaced?.compressed_bytes ?? 0),
  });
}

async function writePoints(statement: Statement, samples: readonly KeptSample[]): Promise<void> {
  const points = samples.map(({ point }) => point);
  await statement(
    `INSERT INTO metrics_points (timestamp, cpu, mem, disk, inode, disk_read, disk_write, net_sent, net_recv,
                                 item)
     SELECT * FROM unnest($1::float8[], $2::float8[], $3::float8[], $4::float8[], $5::float8[], $6::float8[],
                          $7::float8[], $8::float8[], $9::float8[], $10::bytea[])
     ON CONFLICT (timestamp) DO UPDATE SET cpu = excluded.cpu, mem = excluded.mem, disk = excluded.disk,
       inode = excluded.inode, disk_read = excluded.disk_read, disk_write = excluded.disk_write,
       net_sent = excluded.net_sent, net_recv = excluded.net_recv,
       item = excluded.item`,
    [
      timesOf(samples),
      points.map(({ cpu }) => cpu),
      points.map(({ mem }) => mem),
      points.map(({ disk }) => disk),
      points.map(({ inode }) => inode),
      points.map(({ diskRead }) => diskRead),
      points.map(({ diskWritten }) => diskWritten),
      points.map(({ netSent }) => netSent),
      points.map(({ netReceived }) => netReceived),
      samples.map(({ item }) => item),
    ],
  );
}

async function writeParts(statement: Statement, samples: readonly KeptSample[]): Promise<void> {
  const parts = samples.flatMap(({ timestamp, point }) =>
    [
      ...[...point.fileSystems].map(([name, pair]) => ({ timestamp, kind: FILE_SYSTEM, name, pair })),
      ...[...point.interfaces].map(([name, pair]) => ({ timestamp, kind: INTERFACE, name, pair })),
      // A text in PostgreSQL cannot hold this character.
    ].filter(({ name }) => !name.includes('\0')),
  );
  if (parts.length === 0) return;
  await statement(
    `INSERT INTO metrics_point_parts
     SELECT DISTINCT ON (timestamp, kind, name) * FROM
       unnest($1::float8[], $2::smallint[], $3::text[], $4::float8[], $5::float8[])
       AS incoming (timestamp, kind, name, first, second)
     ON CONFLICT (timestamp, kind, name) DO UPDATE SET first = excluded.first, second = excluded.second`,
    [
      parts.map(({ timestamp }) => timestamp),
      parts.map(({ kind }) => kind),
      parts.map(({ name }) => name),
      parts.map(({ pair: [first] }) => first),
      parts.map(({ pair: [, second] }) => second),
    ],
  );
}

/** Adds to the stored totals, which save counting rows. */
async function count(statement: Statement, by: Totals): Promise<void> {
  await statement(
    `INSERT INTO metrics_metadata SELECT key, value::text FROM unnest($1::text[], $2::bigint[]) AS by (key, value)
     ON CONFLICT (key) DO UPDATE SET value = (metrics_metadata.value::bigint + excluded.value::bigint)::text`,
    [Object.keys(by), Object.values(by)],
  );
}

function timesOf(samples: readonly KeptSample[]): number[] {
  return samples.map(({ timestamp }) => timestamp);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function markKey(id: string): string {
  return `mark:${id}`;
}
