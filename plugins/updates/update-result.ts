// What the last look for updates of a process, or their last installation, came to: as it is kept, and as clients see
// it.
import { z } from 'zod';
import type { AvailableRelease } from '../installs/contract.ts';

const unixSeconds = z.number();
const text = z.string();
/** What clients make links of. */
export const webAddress = z.url({ protocol: /^https?$/ });

/** Names are those of the wire. Members that are unknown or do not apply are absent. */
const outcome = {
  message: text,
  reason: text.optional(),
  current_version: text.optional(),
  available_version: text.optional(),
  previous_version: text.optional(),
  releases_behind: z.int().optional(),
  checked_at: unixSeconds.optional(),
  applied_at: unixSeconds.optional(),
  last_check_error: text.optional(),
  last_check_failed_at: unixSeconds.optional(),
  release_url: webAddress.optional(),
  notes_label: text.optional(),
};

const timing = {
  install_duration_seconds: z.number().optional(),
  downtime_seconds: z.number().optional().describe('from the stop to the first answer that it is ready'),
  downtime_status: z.enum(['completed', 'ongoing', 'not_observed']).optional(),
  timing_completed_at: text.optional().describe('ISO 8601'),
};

export const resultSchema = z.lazy(() =>
  z.object({
    status: z.enum(['update_available', 'no_update', 'updated', 'blocked', 'deferred', 'error']),
    ...outcome,
    ...timing,
    /** What people were told of a failure last, and when. */
    told_failure: z.object({ reason: text, at: unixSeconds }).optional(),
    /** The release on which the service did not come up, which no schedule installs again. */
    failed_version: text.optional(),
  }),
);

export type UpdateResult = z.output<typeof resultSchema>;

/** What a later look does not change. */
export function lasting(known: UpdateResult | undefined): Partial<UpdateResult> {
  if (known === undefined) return {};
  const { previous_version, applied_at, told_failure, failed_version } = known;
  const { install_duration_seconds, downtime_seconds, downtime_status, timing_completed_at } = known;
  const kept = { previous_version, applied_at, told_failure, failed_version };
  const timing = { install_duration_seconds, downtime_seconds, downtime_status, timing_completed_at };
  return Object.fromEntries(Object.entries({ ...kept, ...timing }).filter(([, value]) => value !== undefined));
}

/** What is told of a release, whether or not it is news. */
export function notesOf({ notesUrl, releasesBehind }: AvailableRelease): Partial<UpdateResult> {
  return {
    ...(webAddress.safeParse(notesUrl).success
      ? { release_url: notesUrl as string, notes_label: 'Release notes' }
      : {}),
    ...(releasesBehind === null ? {} : { releases_behind: releasesBehind }),
  };
}

export const statusSchema = z.lazy(() =>
  z.object({
    process_name: text,
    status: z.enum([
      'update_available',
      'no_update',
      'updated',
      'blocked',
      'unsupported',
      'error',
      'installing',
      'deferred',
      'scheduled',
    ]),
    ...outcome,
    ...timing,
    next_check_at: unixSeconds.optional(),
    auto_update_enabled: z.boolean(),
    auto_update_mode: z.enum(['install', 'check_only']),
    auto_update_interval: z.number().describe('hours'),
    auto_update_start_time: text.describe('HH:MM'),
    configured_target_kind: z.enum(['release', 'branch', 'commit']).optional(),
    configured_target_installed: z.boolean().optional(),
  }),
);

export type UpdateStatus = z.output<typeof statusSchema>;

export const noticeSchema = z.lazy(() =>
  z.object({
    id: text.describe('stays the same for the same news'),
    type: z.enum(['available', 'info', 'applied']),
    process_name: text,
    display_name: text.optional(),
    status: text,
    ...outcome,
    repo_url: webAddress.optional(),
  }),
);

/** Of a release that is published, whose id says which. */
export const availableSchema = z.lazy(() => noticeSchema.unwrap().omit({ id: true }));

export type UpdateNotice = z.output<typeof noticeSchema>;

const MS_PER_S = 1_000;

export function unixNow(): number {
  return Math.floor(Date.now() / MS_PER_S);
}
