// The status of the scheduled backups of a process, in its wire form.
import { z } from 'zod';
import { type Host, type NamedBlock, Problem } from '#core';
import { timeOf } from '../manifest/time-stamp.ts';
import { defaultRoots } from '../places/default-roots.ts';
import type { BackupSettings } from './backup-settings.ts';
import type { BackupSchedule } from './schedule.ts';

const MS_PER_S = 1_000;
const unixSeconds = z.int();

export const backupStatusSchema = z.lazy(() =>
  z.object({
    process_name: z.string(),
    checked_at: unixSeconds,
    status: z.enum(['scheduled', 'running', 'completed', 'error', 'disabled', 'unsupported']),
    message: z.string(),
    symlink_backup_enabled: z.boolean(),
    symlink_backup_interval: z.number(),
    symlink_backup_start_time: z.string(),
    symlink_backup_path: z.string(),
    symlink_backup_include_broken: z.boolean(),
    symlink_backup_roots: z.array(z.string()),
    symlink_backup_retention_count: z.int(),
    next_backup_at: unixSeconds.nullable(),
    last_backup_at: unixSeconds.nullable(),
    last_backup_manifest: z.string().nullable(),
    scanned_symlinks: z.int().nullable(),
    recorded_entries: z.int().nullable(),
    pruned_backups: z.array(z.string()),
    retention_errors: z.array(z.string()),
    errors: z.int(),
    warning: z.string().nullable(),
  }),
);

export type BackupStatus = z.output<typeof backupStatusSchema>;

export function backupStatus(host: Host, schedule: BackupSchedule, block: NamedBlock): BackupStatus {
  const { processName } = block;
  const settings = schedule.settingsOf(block);
  const record = schedule.record(processName);
  const isSupported = schedule.isSupported(block);
  const next = schedule.nextAt(block);
  return {
    process_name: processName,
    checked_at: Math.floor(Date.now() / MS_PER_S),
    ...standing(schedule, block, settings, next),
    symlink_backup_enabled: isSupported && settings.enabled,
    symlink_backup_interval: settings.intervalHours,
    symlink_backup_start_time: settings.startTime,
    symlink_backup_path: settings.path,
    symlink_backup_include_broken: settings.includeBroken,
    symlink_backup_roots: settings.roots.length === 0 ? defaultRoots(host) : [...settings.roots],
    symlink_backup_retention_count: settings.retentionCount,
    next_backup_at: next === null ? null : Math.floor(next.getTime() / MS_PER_S),
    last_backup_at: record?.last_backup_at ?? null,
    last_backup_manifest: record?.last_manifest ?? null,
    scanned_symlinks: record?.scanned_symlinks ?? null,
    recorded_entries: record?.recorded_entries ?? null,
    pruned_backups: record?.pruned_backups ?? [],
    retention_errors: record?.retention_errors ?? [],
    errors: record?.errors ?? 0,
    warning: settings.warning ?? record?.warning ?? null,
  };
}

function standing(
  schedule: BackupSchedule,
  block: NamedBlock,
  { enabled }: BackupSettings,
  next: Date | null,
): Pick<BackupStatus, 'status' | 'message'> {
  if (!schedule.isSupported(block))
    return { status: 'unsupported', message: `Links of ${block.processName} cannot be saved on a schedule.` };
  if (schedule.isRunning(block)) return { status: 'running', message: 'A snapshot is being written.' };
  if (!enabled || next === null)
    return { status: 'disabled', message: 'Scheduled snapshots are off; set symlink_backup_enabled.' };
  const fault = faultOf(schedule, block);
  if (fault !== undefined) return { status: 'error', message: fault };
  const outcome = schedule.outcome(block);
  const message = schedule.record(block.processName)?.message;
  if (outcome === undefined || message === undefined)
    return { status: 'scheduled', message: `The next snapshot is due at ${timeOf(next)}.` };
  return { status: outcome, message };
}

function faultOf(schedule: BackupSchedule, block: NamedBlock): string | undefined {
  try {
    schedule.optionsAt(block, new Date());
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}
