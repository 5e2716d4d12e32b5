// The answer of an activation.
import { z } from 'zod';
import type { Activation } from './activation.ts';

const number = z.number().nullable();

export const activationSchema = z.object({
  status: z.literal('active'),
  provider: z.literal('postgresql'),
  database: z.string(),
  postgres_enabled: z.boolean(),
  postgres_running: z.literal(true),
  postgres_started: z.boolean(),
  postgres_reused: z.boolean(),
  synced_samples: z.int(),
  active_provider: z.literal('postgresql'),
  fallback_active: z.literal(false),
  postgresql: z
    .object({
      database: z.string(),
      schema: z.string(),
      samples: z.int(),
      raw_bytes: z.int(),
      compressed_bytes: z.int(),
      relation_bytes: z.int(),
      compression_ratio: number,
      oldest_timestamp: number,
      newest_timestamp: number,
    })
    .nullable(),
});

export function activationToWire(activation: Activation): z.output<typeof activationSchema> {
  const { database, started, syncedSamples, totals } = activation;
  return {
    status: 'active',
    provider: 'postgresql',
    database,
    postgres_enabled: true,
    postgres_running: true,
    postgres_started: started,
    postgres_reused: !started,
    synced_samples: syncedSamples,
    active_provider: 'postgresql',
    fallback_active: false,
    postgresql: totals && {
      database: totals.database,
      schema: totals.schema,
      samples: totals.samples,
      raw_bytes: totals.rawBytes,
      compressed_bytes: totals.storedBytes,
      relation_bytes: totals.relationBytes,
      compression_ratio: totals.rawBytes === 0 ? null : Math.round((totals.storedBytes / totals.rawBytes) * 1e4) / 1e4,
      oldest_timestamp: totals.oldest,
      newest_timestamp: totals.newest,
    },
  };
}
