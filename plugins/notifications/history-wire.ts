// The wire form of deliveries, and of the messages that clients send.
import { z } from 'zod';
import { queryInteger } from '#kit/query-values';
import { metadataOf } from './deliveries.ts';
import type { DeliveryRecord } from './queue-statements.ts';
import { SEVERITIES } from './severity.ts';

const MAX_TITLE = 300;
const MAX_BODY = 10_000;

export const recordSchema = z.lazy(() =>
  z.object({
    id: z.string(),
    event_id: z.string(),
    destination_id: z.string(),
    destination_name: z.string(),
    event_type: z.string(),
    severity: z.string(),
    title: z.string(),
    body: z.string(),
    service_name: z.string().nullable(),
    status: z.string(),
    attempts: z.int(),
    error: z.string().nullable(),
    next_attempt_at: z.number(),
    created_at: z.number(),
    updated_at: z.number(),
    sent_at: z.number().nullable(),
    metadata: z.record(z.string(), z.unknown()),
  }),
);

export const historyQuery = z.object({
  limit: queryInteger({ min: 1, max: 500 }).default(100),
  status: z.string().optional(),
  event_type: z.string().optional(),
});

export const historyAnswer = z.object({ items: z.array(recordSchema) });
export const clearAnswer = z.object({ deleted: z.int() });
export const eventsAnswer = z.lazy(() =>
  z.object({ event_types: z.array(z.string()), severities: z.array(z.enum(SEVERITIES)) }),
);
export const sendAnswer = z.lazy(() => z.object({ status: z.literal('queued'), delivery_ids: z.array(z.string()) }));

export const testBody = z.lazy(() =>
  z.object({
    destination_id: z.string().max(1_000),
    title: z.string().nullish(),
    body: z.string().nullish(),
  }),
);

export const sendBody = z.lazy(() =>
  z.object({
    title: z.string().min(1).max(MAX_TITLE),
    body: z.string().min(1).max(MAX_BODY),
    severity: z.unknown().optional(),
    destination_ids: z.array(z.string()).nullish(),
  }),
);

export function recordToWire(row: DeliveryRecord): z.input<typeof recordSchema> {
  const { metadata_json: _, ...record } = row;
  return { ...record, metadata: metadataOf(row) };
}
