// Registers scheduled backups: the keys in service blocks, the routes, and the status in the detail of a process.
import { z } from 'zod';
import type { Host } from '#core';
import type {} from '../../process/contract.ts';
import type {} from '../../services/contract.ts';
import type { SymlinkJobs } from '../jobs/symlink-jobs.ts';
import type { Places } from '../places/path-rules.ts';
import { backupBlock } from './backup-settings.ts';
import { backupStatus, backupStatusSchema } from './backup-status.ts';
import { BackupSchedule } from './schedule.ts';
import { registerScheduleRoutes } from './schedule-routes.ts';
import { ScheduleState } from './schedule-state.ts';

/** Returns a function that ends the writing of the state. */
export async function registerSchedule(host: Host, jobs: SymlinkJobs, places: Places): Promise<() => Promise<void>> {
  // For all services, because clients send the keys with the whole block of any service.
  host.contribute('config.block', 'symlink-backup', { schema: backupBlock });
  // Services that fill a library with links have `symlink_backup_enabled` in their templates.
  const templates = host.find('service.templates')?.list() ?? [];
  const supported = templates.filter(({ block }) => 'symlink_backup_enabled' in block).map(({ key }) => key);
  const state = await ScheduleState.open(host, places);
  const schedule = new BackupSchedule(host, { jobs, places, state, supported });
  registerScheduleRoutes(host, schedule, jobs, places);
  host.contribute('process.detail', 'symlink-backup', {
    schema: z.object({ symlink_backup_status: backupStatusSchema }),
    members: block => ({ symlink_backup_status: backupStatus(host, schedule, block) }),
  });
  host.tap('config.changed', () => {
    const store = host.use('config.store');
    // The blocks of an invalid configuration say nothing about removed processes.
    return store.state === 'valid' ? schedule.forgetOthers(store.blocks()) : undefined;
  });
  schedule.start();
  return () => state.close();
}
