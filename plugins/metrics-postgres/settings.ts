// The settings for PostgreSQL in `dumb.metrics.storage`. Values that a file already holds are brought into bounds, not
// refused.
import { z } from 'zod';

const MS_PER_S = 1_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
const DATABASE = 'dumb_metrics';
const SCHEMA = 'public';
const LOCAL_DAYS = { min: 1, max: 3_650, usual: 7 };
const RETRY_S = { min: 15, max: 3_600, usual: 60 };

export interface StoreSettings {
  /** Whether the history is to be read from PostgreSQL. */
  readonly isChosen: boolean;
  readonly database: string;
  readonly schema: string;
  /** Age in days after which samples may be removed from the SQLite file. */
  readonly localDays: number;
  /** How long to wait after a failure before the server is tried again. */
  readonly retryMs: number;
}

const name = z.string().regex(NAME, 'it must be letters, digits and underscores, 63 at most, and begin with no digit');

export const postgresSection = z.object({
  database: name.default(DATABASE).meta({ description: 'Database of the history of metrics' }),
  schema: name.default(SCHEMA).meta({ description: 'Schema of its tables' }),
  local_retention_days: z
    .int()
    .min(LOCAL_DAYS.min)
    .max(LOCAL_DAYS.max)
    .default(LOCAL_DAYS.usual)
    .meta({ description: 'Age in days after which samples that PostgreSQL holds are removed from the own file' }),
  retry_interval_sec: z
    .int()
    .min(RETRY_S.min)
    .max(RETRY_S.max)
    .default(RETRY_S.usual)
    .meta({ description: 'Seconds after which a server that failed is tried again' }),
});

/** Reads `dumb.metrics.storage` as it is in force. */
export function readSettings(section: unknown): StoreSettings {
  const storage = recordOf(section);
  const values = recordOf(storage.postgresql);
  return {
    isChosen: storage.provider === 'postgresql',
    database: nameOf(values.database, DATABASE),
    schema: nameOf(values.schema, SCHEMA),
    localDays: bounded(values.local_retention_days, LOCAL_DAYS),
    retryMs: bounded(values.retry_interval_sec, RETRY_S) * MS_PER_S,
  };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function nameOf(value: unknown, usual: string): string {
  return typeof value === 'string' && NAME.test(value) ? value : usual;
}

function bounded(value: unknown, { min, max, usual }: typeof RETRY_S): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(Math.max(value, min), max) : usual;
}
