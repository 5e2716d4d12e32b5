// Queries and answers of the routes of the history.
import { z } from 'zod';
import { queryBoolean, queryInteger, queryNumber } from '#kit/query-values';
import type { History } from './history.ts';
import { CURVES, type Curve } from './ranges.ts';
import { ratio, storeTotals } from './store-totals.ts';

const DEFAULT_WINDOW_S = 21_600;
const MS_PER_S = 1_000;
const DEFAULT_LIMIT = 5_000;
const MAX_LIMIT = 50_000;
const DEFAULT_POINTS = 600;
const MAX_POINTS = 5_000;

const windowQuery = {
  since: queryNumber().optional().describe('Unix seconds; six hours ago unless `full` is set'),
  full: queryBoolean().optional().describe('Everything that is kept'),
  limit: queryInteger().optional().describe('Samples at most'),
};

export const samplesQuery = z.object(windowQuery);

export const chartQuery = z.object({
  ...windowQuery,
  bucket_seconds: queryNumber().optional().describe('Seconds that one entry stands for; automatic when it is absent'),
  max_points: queryInteger().optional().describe('Entries at most'),
});

const number = z.number().nullable();

/** A sample as it was kept; plugins add members. */
const keptSchema = z.looseObject({ timestamp: z.number() });

export const samplesSchema = z.object({ items: z.array(keptSchema), truncated: z.boolean() });

const numbers = z.array(number);
const range = z.object({ min: z.number(), max: z.number() });
function ofCurves<Schema extends z.ZodType>(schema: Schema) {
  return Object.fromEntries(CURVES.map(curve => [curve, schema])) as Record<Curve, Schema>;
}

export const chartSchema = z.lazy(() =>
  z.object({
    items: z.array(keptSchema),
    timestamps: numbers,
    series: z.object({
      ...ofCurves(numbers),
      filesystems: z.record(z.string(), z.object({ disk: numbers, inode: numbers })),
      network_interfaces: z.record(z.string(), z.object({ sent_rate: numbers, recv_rate: numbers })),
    }),
    stats: z
      .object({
        ...ofCurves(range.nullable()),
        filesystems: z.record(z.string(), z.object({ disk: range, inode: range }).partial()),
        network_interfaces: z.record(z.string(), z.object({ sent_rate: range, recv_rate: range }).partial()),
      })
      .nullable(),
    truncated: z.boolean(),
    bucket_seconds: number,
  }),
);

export const storageQuery = z.object({
  probe_postgresql: queryBoolean().default(false).describe('Whether a store that failed is tried again now'),
});

export const importSchema = z.lazy(() =>
  z.object({ completed: z.boolean(), files: z.int(), samples: z.int(), skipped: z.int() }),
);

export const storageSchema = z.lazy(() =>
  z.object({
    configured_provider: z.enum(['sqlite', 'postgresql']),
    active_provider: z.enum(['sqlite', 'postgresql']),
    fallback_active: z.boolean(),
    last_error: z.string().nullable(),
    last_postgresql_success: number,
    sqlite: z.object({
      path: z.string(),
      samples: z.int(),
      raw_bytes: z.int(),
      compressed_bytes: z.int(),
      file_bytes: z.int(),
      compression_ratio: number,
      oldest_timestamp: number,
      newest_timestamp: number,
      thinned_samples: z.int(),
      error: z.string().nullable(),
    }),
    postgresql: storeTotals.schema.nullable(),
    legacy_jsonl: z.object({
      files: z.int(),
      bytes: z.int(),
      preserved: z.literal(true),
      migration: importSchema,
    }),
    sync: z
      .object({
        state: z.enum(['idle', 'reconciling', 'backoff']),
        pending_samples: z.int(),
        next_attempt_at: number,
      })
      .nullable(),
  }),
);

type Window = z.output<typeof samplesQuery>;

/** The begin of the window in Unix seconds; null for everything. */
function sinceOf({ since, full }: Window): number | null {
  if (since !== undefined) return since;
  return full === true ? null : Date.now() / MS_PER_S - DEFAULT_WINDOW_S;
}

export function samplesWindow(query: Window): { readonly since: number | null; readonly limit: number } {
  const { limit = DEFAULT_LIMIT } = query;
  return { since: sinceOf(query), limit: limit <= 0 ? MAX_LIMIT : Math.min(limit, MAX_LIMIT) };
}

export function chartWindow(query: z.output<typeof chartQuery>): Parameters<History['chart']>[0] {
  const { bucket_seconds: bucket = 0, max_points: points = DEFAULT_POINTS, limit = 0 } = query;
  const most = points <= 0 ? DEFAULT_POINTS : Math.min(points, MAX_POINTS);
  return {
    since: sinceOf(query),
    bucketSeconds: bucket <= 0 ? null : Math.max(1, Math.floor(bucket)),
    maxPoints: limit > 0 ? Math.min(most, limit) : most,
  };
}

/** The query of a client of the stream. Values that are not valid count as absent. */
export function introductionQuery(query: Readonly<Record<string, string>>): z.output<typeof chartQuery> {
  const one = <Value>(schema: z.ZodType<Value>, text: string | undefined): Value | undefined =>
    schema.safeParse(text).data;
  return {
    since: one(queryNumber(), query.history_since),
    full: one(queryBoolean(), query.history_full),
    limit: one(queryInteger(), query.history_limit),
    bucket_seconds: one(queryNumber(), query.history_bucket),
    max_points: one(queryInteger(), query.history_points),
  };
}

export async function storageToWire(
  history: History,
  { probe_postgresql: probe }: z.output<typeof storageQuery>,
): Promise<z.output<typeof storageSchema>> {
  const [sqlite, legacy, other] = await Promise.all([
    history.storage(),
    history.legacyFiles(),
    history.otherStatus({ probe }),
  ]);
  const configured = history.provider;
  const active = history.isElsewhere ? configured : 'sqlite';
  const isMissing = configured !== 'sqlite' && other === undefined;
  return {
    configured_provider: configured,
    active_provider: active,
    fallback_active: configured !== active,
    last_error: isMissing ? MISSING : (other?.lastError ?? null),
    last_postgresql_success: other?.lastSuccess ?? null,
    sqlite: {
      path: sqlite.path,
      samples: sqlite.samples,
      raw_bytes: sqlite.rawBytes,
      compressed_bytes: sqlite.storedBytes,
      file_bytes: sqlite.fileBytes,
      compression_ratio: ratio(sqlite),
      oldest_timestamp: sqlite.oldest,
      newest_timestamp: sqlite.newest,
      thinned_samples: sqlite.thinnedSamples,
      error: sqlite.error,
    },
    postgresql: other === undefined || other.totals === null ? null : storeTotals.toWire(other.totals),
    legacy_jsonl: { files: legacy.files, bytes: legacy.bytes, preserved: true, migration: legacy.import },
    sync:
      other === undefined
        ? null
        : {
            state: other.sync.state,
            pending_samples: other.sync.pendingSamples,
            next_attempt_at: other.sync.nextAttemptAt,
          },
  };
}

const MISSING = 'PostgreSQL is not available in this build; the history is kept in SQLite';
