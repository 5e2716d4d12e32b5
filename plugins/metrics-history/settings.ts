// The settings of the history in `dumb.metrics`. Numbers in a file that are out of range are bounded, never refused.
import path from 'node:path';
import { z } from 'zod';

const BYTES_PER_MB = 1_000_000;
const MS_PER_S = 1_000;
const MAX_INTERVAL_S = 3_600;
const MIN_INTERVAL_S = 0.5;
const MAX_DAYS = 3_650;
const MAX_MB = 1_048_576;

export interface HistorySettings {
  readonly enabled: boolean;
  readonly intervalMs: number;
  /** null for no limit. */
  readonly maxAgeDays: number | null;
  /** The greatest size of all stored samples together; null for no limit. */
  readonly maxBytes: number | null;
  /** Where an earlier program kept samples as lines of JSON. */
  readonly linesDirectory: string;
  readonly importLines: boolean;
  readonly file: string;
  readonly provider: 'sqlite' | 'postgresql';
}

const absolute = z.string().regex(/^\//, 'it must be an absolute path');

export function historySections(directory: string) {
  return {
    history: z.object({
      history_enabled: z.boolean().default(true).meta({ description: 'Whether samples are kept' }),
      history_interval_sec: z
        .number()
        .min(MIN_INTERVAL_S)
        .max(MAX_INTERVAL_S)
        .default(5)
        .meta({ description: 'Seconds between two samples that are kept' }),
      history_retention_days: z
        .number()
        .min(0)
        .max(MAX_DAYS)
        .default(7)
        .meta({ description: 'Age in days after which samples are removed; 0 for no limit' }),
      history_max_total_mb: z.number().min(0).max(MAX_MB).default(100).meta({
        description: 'Size of all samples in MB, above which older ones are thinned out; 0 for no limit',
      }),
      history_max_file_mb: z
        .number()
        .min(0)
        .max(MAX_MB)
        .default(50)
        .meta({ description: 'Kept for clients that send it; it has no effect' }),
      history_dir: absolute.default(directory).meta({
        needsLogin: true,
        description: 'Directory with files of an earlier program (metrics-*.jsonl), which are imported',
      }),
    }),
    storage: z.object({
      provider: z
        .enum(['sqlite', 'postgresql'])
        .default('sqlite')
        .meta({ description: 'Where the history is read from: the own file, or the managed PostgreSQL' }),
      sqlite_path: absolute
        .default(path.join(directory, 'metrics.sqlite'))
        .meta({ needsLogin: true, description: 'The file of the history' }),
      migrate_jsonl: z
        .boolean()
        .default(true)
        .meta({ description: 'Whether files of an earlier program are imported at the start' }),
    }),
  };
}

/** Reads the section, with defaults for values that are missing or not valid; `directory` is the default place. */
export function readSettings(section: unknown, directory: string): HistorySettings {
  const values = recordOf(section);
  const storage = recordOf(values.storage);
  const days = bounded(values.history_retention_days, 7, 0, MAX_DAYS);
  const megabytes = bounded(values.history_max_total_mb, 100, 0, MAX_MB);
  return {
    enabled: values.history_enabled !== false,
    intervalMs: bounded(values.history_interval_sec, 5, MIN_INTERVAL_S, MAX_INTERVAL_S) * MS_PER_S,
    maxAgeDays: days === 0 ? null : days,
    maxBytes: megabytes === 0 ? null : megabytes * BYTES_PER_MB,
    linesDirectory: placeOf(values.history_dir) ?? directory,
    importLines: storage.migrate_jsonl !== false,
    file: placeOf(storage.sqlite_path) ?? path.join(directory, 'metrics.sqlite'),
    provider: storage.provider === 'postgresql' ? 'postgresql' : 'sqlite',
  };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function bounded(value: unknown, otherwise: number, min: number, max: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(Math.max(value, min), max) : otherwise;
}

function placeOf(value: unknown): string | undefined {
  return typeof value === 'string' && path.isAbsolute(value) ? path.resolve(value) : undefined;
}
