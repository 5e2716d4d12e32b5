// The wire form of the answers of the routes.
import { z } from 'zod';
import { mediaOf } from './fingerprint.ts';
import { shortLine } from './remote-error.ts';
import type { Progress } from './replication.ts';
import { retryAtMs } from './retry.ts';
import type { SyncSettings } from './settings.ts';
import { type Failure, partsOfKey, type State, timestamp } from './state.ts';

const counts = z.object({ synced: z.int(), failed: z.int() });

export const statusAnswer = z.lazy(() =>
  z.union([
    z.object({ enabled: z.literal(false), status: z.literal('disabled') }),
    z.object({ enabled: z.literal(true), status: z.literal('initializing'), message: z.string() }),
    z.object({
      enabled: z.literal(true),
      status: z.literal('active'),
      last_poll: z.string().nullable(),
      next_poll: z.string().nullable(),
      poll_interval_seconds: z.int(),
      total_requests_tracked: z.int(),
      total_failed: z.int(),
      subordinates: z.record(z.string(), counts),
      last_error: z.string().nullable(),
      warnings: z.array(z.string()),
    }),
  ]),
);

export const failedAnswer = z.lazy(() =>
  z.object({
    count: z.int(),
    failed_requests: z.array(
      z.object({
        fingerprint: z.string(),
        subordinate: z.string(),
        media_type: z.string(),
        tmdb_id: z.int().nullable(),
        error: z.string(),
        failed_at: z.string(),
        retry_at: z.string().nullable().describe('null: at the next poll'),
        attempts: z.int(),
      }),
    ),
  }),
);

export const stateAnswer = z.lazy(() =>
  z.looseObject({
    last_poll_ts: z.string().nullable(),
    requests: z.record(z.string(), z.unknown()),
    failed: z.record(z.string(), z.unknown()),
  }),
);

export const testBody = z.lazy(() => z.object({ url: z.string().max(4_096), api_key: z.string().max(4_096) }));
export const testAnswer = z.lazy(() =>
  z.object({ ok: z.literal(true), status: z.looseObject({ version: z.string() }) }),
);

export const clearQuery = z.object({ fingerprint: z.string().max(200).optional() });
export const clearAnswer = z.object({ message: z.string(), cleared: z.int() });

export function activeToWire(
  state: State,
  { poll_interval_seconds }: SyncSettings,
  { error, warnings, labels, nextPollMs }: Progress,
): z.input<typeof statusAnswer> {
  const subordinates = new Map(labels.map(label => [label, { synced: 0, failed: 0 }]));
  const countsOf = (label: string) => {
    const known = subordinates.get(label) ?? { synced: 0, failed: 0 };
    subordinates.set(label, known);
    return known;
  };
  for (const tracked of state.requests.values())
    for (const label of Object.keys(tracked.subordinates)) countsOf(label).synced += 1;
  for (const key of state.failed.keys()) countsOf(partsOfKey(key)[1]).failed += 1;
  return {
    enabled: true,
    status: 'active',
    last_poll: state.last_poll_ts,
    next_poll: nextPollMs === null ? null : timestamp(nextPollMs),
    poll_interval_seconds,
    total_requests_tracked: state.requests.size,
    total_failed: state.failed.size,
    subordinates: Object.fromEntries(subordinates),
    last_error: error,
    warnings: [...warnings],
  };
}

/** The failures, newest first. Missing or too long members of an earlier program's entries are corrected. */
/** The text of the answer, in pieces. */
export function* failedText({ failed }: State, retryAfterHours: number): Generator<string> {
  const newestFirst = [...failed].sort(([, { failed_at: a }], [, { failed_at: b }]) => (a < b ? 1 : a > b ? -1 : 0));
  yield `{"count":${newestFirst.length},"failed_requests":[`;
  let separator = '';
  for (const [key, failure] of newestFirst) {
    yield separator + JSON.stringify(failureToWire(key, failure, retryAfterHours));
    separator = ',';
  }
  yield ']}';
}

function failureToWire(
  key: string,
  { failed_at, attempts = 1, ...entry }: Failure,
  retryAfterHours: number,
): z.input<typeof failedAnswer>['failed_requests'][number] {
  const [fingerprint, subordinate] = partsOfKey(key);
  const media = mediaOf(fingerprint);
  const media_type = media?.mediaType ?? String(entry.media_type ?? '');
  const tmdb_id = media?.tmdbId ?? (Number.isInteger(entry.tmdb_id) ? entry.tmdb_id : null);
  const error = shortLine(entry.error);
  const atMs = retryAtMs(failed_at, retryAfterHours, Date.now());
  const retry_at = atMs === null ? null : timestamp(atMs);
  return { fingerprint, subordinate, media_type, tmdb_id, error, failed_at, retry_at, attempts };
}
