// Brings a service back to SQLite: its settings and its blocks get their former values. Every step can be repeated.
import path from 'node:path';
import { errorText } from '#kit/error-text';
import { DatabaseUseError } from '#kit/sqlite-as-user';
import { type BackupFile, copyOf, putBackDatabase, putBackSettings } from './backup.ts';
import type { LiveJob } from './live-job.ts';
import type { MigrationContext } from './migration-context.ts';
import { type SourceFile, sizeOf } from './sqlite-source.ts';
import type { Subject } from './subject.ts';

/** The codes by which SQLite says that a file is no intact database. */
const DAMAGED = /^SQLITE_(?:CORRUPT|NOTADB)/;

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

/**
 * The copies of databases that are missing or damaged. Changes nothing. Rejects when a database cannot be checked, as
 * while another program has locked it.
 */
export async function findLost(
  { sources }: MigrationContext,
  { subject, live, signal }: Restoring,
): Promise<BackupFile[]> {
  const copies = live.work.databases.map(({ label }) => copyOf(label));
  const lost: BackupFile[] = [];
  for (const file of live.work.backup.filter(({ name }) => copies.includes(name)))
    if (await isLost(sources, { file: file.source, user: subject.user, isStopped: true }, signal)) lost.push(file);
  return lost;
}

async function isLost(sources: MigrationContext['sources'], source: SourceFile, signal: AbortSignal): Promise<boolean> {
  if ((await sizeOf(source.file)) === null) return true;
  // Undoes a transaction that was cut off, for which an intact file would be taken for a damaged one.
  await sources.closeLog(source, signal).catch(() => undefined);
  try {
    const { quickCheck } = await sources.quickCheck(source);
    // null: too large to be checked in time. The file is left as it is, because the migration never changed it.
    return quickCheck !== 'ok' && quickCheck !== null;
  } catch (error) {
    if (error instanceof DatabaseUseError && DAMAGED.test(error.sqliteCode ?? '')) return true;
    const what = 'end what keeps it from being read, or move it away to have the copy from before the move';
    throw new Error(`${errorText(error)}; ${what}, then try again`, { cause: error });
  }
}

/** Puts the cold backup in the place of databases that are missing or damaged. */
export async function restoreDatabases(
  { host }: MigrationContext,
  { live, signal }: Restoring,
  lost: readonly BackupFile[],
): Promise<void> {
  const { backup_dir: directory } = live.job;
  if (directory === null) return;
  for (const file of lost) {
    await putBackDatabase(directory, file, signal);
    host.log.warn(
      `${file.source} was missing or damaged, and is its copy from before the move now; what was damaged is kept as ` +
        `${file.source}.damaged`,
    );
  }
}
