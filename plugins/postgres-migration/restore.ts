// Brings a service back to SQLite: its settings and its blocks get their former values. Every step can be repeated.
import path from 'node:path';
import { type BackupFile, copyOf, putBackDatabase, putBackSettings } from './backup.ts';
import type { LiveJob } from './live-job.ts';
import type { MigrationContext } from './migration-context.ts';
import type { Subject } from './subject.ts';

export interface Restoring {
  readonly subject: Subject;
  readonly live: LiveJob;
  readonly signal: AbortSignal;
}

/** The copy of the settings of the service; undefined when a cutover changes no settings, or there is no backup yet. */
function settingsIn({ switchedFile }: Subject, files: readonly BackupFile[]): BackupFile | undefined {
  return switchedFile === undefined ? undefined : files.find(({ name }) => name === path.basename(switchedFile));
}

/** The service must be stopped. `keepsPresent`: whether its present settings are kept in the backup. */
export async function restoreService(
  context: MigrationContext,
  { subject, live }: Restoring,
  { keepsPresent }: { readonly keepsPresent: boolean },
): Promise<void> {
  const { backup } = live.work;
  const settings = settingsIn(subject, backup);
  if (settings !== undefined && live.job.backup_dir !== null)
    await putBackSettings(live.job.backup_dir, settings, { keepsPresent });
  await switchBack(context, subject, live);
}

/**
 * Saves that the service uses SQLite, and takes the databases off the list of the server that were put there for it.
 */
async function switchBack({ host, guard, server }: MigrationContext, subject: Subject, live: LiveJob): Promise<void> {
  const { processName } = subject;
  const updates = { ...live.work.options, postgres_enabled: false };
  const save = () => host.use('config.store').update({ processName, updates, persist: true, actor: host.name });
  await guard.changing(processName, Object.keys(updates), save);
  const name = server.managed.place()?.processName;
  const { registered, disabled } = live.work;
  if (name !== undefined && registered.length > 0)
    await guard.changing(name, ['databases'], () => server.managed.unregister(registered, disabled));
}

/** Puts the cold backup in the place of a database that is missing or damaged. */
export async function restoreDatabase(
  { sources }: MigrationContext,
  { subject, live, signal }: Restoring,
): Promise<void> {
  const copies = live.work.databases.map(({ label }) => copyOf(label));
  for (const file of live.work.backup.filter(({ name }) => copies.includes(name))) {
    const source = { file: file.source, user: subject.user, isStopped: true };
    // Undoes a transaction that was cut off, for which an intact file would be taken for a damaged one.
    await sources.closeLog(source, signal).catch(() => undefined);
    const { quickCheck } = await sources.quickCheck(source).catch(() => ({ quickCheck: 'unreadable' }));
    // null: too large to be checked in time. The file is left as it is, because the migration never changed it.
    if (quickCheck === 'ok' || quickCheck === null) continue;
    if (live.job.backup_dir !== null) await putBackDatabase(live.job.backup_dir, file, signal);
  }
}
