// The keys of a service block for scheduled backups of its links, and the settings that are made of them.
import { z } from 'zod';
import type { NamedBlock } from '#core';
import { rootsOf } from '../places/default-roots.ts';
import { type Places, snapshotDir } from '../places/path-rules.ts';
import { slugOf } from './manifest-name.ts';

const DEFAULT_INTERVAL_H = 168;
const MAX_INTERVAL_H = 8_760;
const DEFAULT_START = '04:00';
const TIME_OF_DAY = /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/;

/** The host reads these keys and applies changes at once; the service itself does not depend on them. */
const live = { live: true, fallback: true };

/** The schema of the keys. It has no defaults, because an editor would write them into the block. */
export const backupBlock = z.looseObject({
  symlink_backup_enabled: z.boolean().optional().meta(live).describe('save a manifest of the links on a schedule'),
  symlink_backup_interval: z.number().optional().meta(live).describe('hours between two manifests, 1 to 8760'),
  symlink_backup_start_time: z
    .string()
    .regex(TIME_OF_DAY, 'it must be a time of day from 00:00 to 23:59, such as 04:00')
    .optional()
    .meta(live)
    .describe('time of day of the first manifest, HH:MM'),
  symlink_backup_path: z
    .string()
    .optional()
    .meta({ ...live, needsLogin: false })
    .describe('path of the manifests; with {timestamp}, {date}, {time}, {process_name} and {process_slug}'),
  symlink_backup_include_broken: z.boolean().optional().meta(live).describe('record links whose target is missing too'),
  symlink_backup_roots: z
    .union([z.array(z.string()), z.string()])
    .optional()
    .meta(live)
    .describe('directories to save; a list, or text with commas or new lines between them'),
  symlink_backup_retention_count: z.number().optional().meta(live).describe('manifests to keep; 0 keeps all'),
});

export interface BackupSettings {
  readonly enabled: boolean;
  readonly intervalHours: number;
  /** HH:MM. */
  readonly startTime: string;
  /** The template of the path of manifests, not yet filled. */
  readonly path: string;
  readonly includeBroken: boolean;
  /** Empty for the default roots. */
  readonly roots: readonly string[];
  /** How many manifests are kept; 0 keeps all. */
  readonly retentionCount: number;
  /** A sentence about an invalid value that is not used; null when there is none. */
  readonly warning: string | null;
}

export function backupSettings({ block, processName }: NamedBlock, places: Places): BackupSettings {
  const given = (key: string): unknown => block[`symlink_backup_${key}`];
  const start = given('start_time');
  const isTime = typeof start === 'string' && TIME_OF_DAY.test(start);
  const path = textOf(given('path'));
  return {
    enabled: given('enabled') === true,
    intervalHours: intervalOf(given('interval')),
    startTime: isTime ? start : DEFAULT_START,
    path: path === '' ? `${snapshotDir(places)}/${slugOf(processName)}-{timestamp}.json` : path,
    includeBroken: given('include_broken') !== false,
    roots: rootsOf(given('roots')),
    retentionCount: Math.max(0, Math.trunc(numberOf(given('retention_count')) ?? 1)),
    warning:
      isTime || start === undefined
        ? null
        : `symlink_backup_start_time is no time as HH:MM, so ${DEFAULT_START} is used`,
  };
}

function intervalOf(value: unknown): number {
  return Math.min(MAX_INTERVAL_H, Math.max(1, numberOf(value) ?? DEFAULT_INTERVAL_H));
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
