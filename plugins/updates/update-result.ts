// The result of the last check or installation of updates of a process, as it is recorded and in its wire form.
import { z } from 'zod';
import type { AvailableRelease } from '../installs/contract.ts';

const unixSeconds = z.number();
const text = z.string();
/** An address of which clients make links. */
export const webAddress = z.url({ protocol: /^https?$/ });

/** The members have the names of the wire. Unknown members, and those that do not apply, are absent. */
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
    /** The last failure for which an event was emitted, and when. */
    told_failure: z.object({ reason: text, at: unixSeconds }).optional(),
    /** The release on which the service did not become ready; a schedule does not install it again. */
    failed_version: text.optional(),
  }),
);

export type UpdateResult = z.output<typeof resultSchema>;

/** The members that a later check does not change. */
export function lasting(known: UpdateResult | undefined): Partial<UpdateResult> {
  if (known === undefined) return {};
  const { previous_version, applied_at, told_failure, failed_version } = known;
  const { install_duration_seconds, downtime_seconds, downtime_status, timing_completed_at } = known;
  const kept = { previous_version, applied_at, told_failure, failed_version };
  const timing = { install_duration_seconds, downtime_seconds, downtime_status, timing_completed_at };
  return Object.fromEntries(Object.entries({ ...kept, ...timing }).filter(([, value]) => value !== undefined));
}

/** The members about a release, whether or not it is an update. */
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

/** The schema of a notice about an available release, without the id, which is made of its version. */
export const availableSchema = z.lazy(() => noticeSchema.unwrap().omit({ id: true }));

export type UpdateNotice = z.output<typeof noticeSchema>;

const MS_PER_S = 1_000;

export function unixNow(): number {
  return Math.floor(Date.now() / MS_PER_S);
}
