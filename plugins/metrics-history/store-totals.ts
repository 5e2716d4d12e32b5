// What another store of the history holds, and its form in answers.
import { z } from 'zod';

export interface StoreTotals {
  readonly database: string;
  readonly schema: string;
  readonly samples: number;
  readonly rawBytes: number;
  readonly storedBytes: number;
  /** The size on disk, including indexes. */
  readonly relationBytes: number;
  readonly oldest: number | null;
  readonly newest: number | null;
}

const number = z.number().nullable();

const schema = z.object({
  database: z.string(),
  schema: z.string(),
  samples: z.int(),
  raw_bytes: z.int(),
  compressed_bytes: z.int(),
  relation_bytes: z.int(),
  compression_ratio: number,
  oldest_timestamp: number,
  newest_timestamp: number,
});

export const storeTotals = { schema, toWire };

function toWire(totals: StoreTotals): z.output<typeof schema> {
  return {
    database: totals.database,
    schema: totals.schema,
    samples: totals.samples,
    raw_bytes: totals.rawBytes,
    compressed_bytes: totals.storedBytes,
    relation_bytes: totals.relationBytes,
    compression_ratio: ratio(totals),
    oldest_timestamp: totals.oldest,
    newest_timestamp: totals.newest,
  };
}

/** Stored bytes for each raw byte, with four decimals; null without samples. */
export function ratio({
  rawBytes,
  storedBytes,
}: {
  readonly rawBytes: number;
  readonly storedBytes: number;
}): number | null {
  return rawBytes === 0 ? null : Math.round((storedBytes / rawBytes) * 1e4) / 1e4;
}
