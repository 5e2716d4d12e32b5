// The answer of an activation.
import { z } from 'zod';
import type { MetricsHistory } from '../metrics-history/contract.ts';
import type { Activation } from './activation.ts';

type Totals = MetricsHistory['totals'];

export const activationSchema = (totals: Totals) =>
  z.object({
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
    postgresql: totals.schema.nullable(),
  });

export function activationToWire(
  activation: Activation,
  totals: Totals,
): z.output<ReturnType<typeof activationSchema>> {
  const { database, started, syncedSamples } = activation;
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
    postgresql: activation.totals && totals.toWire(activation.totals),
  };
}
