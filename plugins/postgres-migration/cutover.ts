// A cutover: the service is stopped, copied, imported and pointed at PostgreSQL. Each step is recorded on disk once its
// work is done, and a failed cutover is taken back.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { HeldProcess } from '../process/contract.ts';
import { type BackupFile, backUp, copyOf, faultOfBackup } from './backup.ts';
import { importData, importedToWire } from './data-import.ts';
import { inRoot, serverTexts } from './helper-launch.ts';
import type { JobWork } from './job.ts';
import type { MigrationContext } from './migration-context.ts';
import { MigrationFault } from './migration-fault.ts';
import { type Preparation, prepare } from './preparation.ts';
import { waitUntilHealthy } from './service-watch.ts';
import { sizeOf } from './sqlite-source.ts';
import { movedOptions } from './subject.ts';

const STOP_MS = 60_000;
const POLL_MS = 100;
/** The share of the job's progress, in percent, that copying the databases takes. */
const BYTES_PERCENT = 10;
const NOT_REHEARSED = 'This move was not rehearsed before, with the same version, tables and names';

export interface Cutover extends Preparation {
  readonly held: HeldProcess;
}

/** The job has ended as completed when this resolves. */
export async function cutOver(context: MigrationContext, cutover: Cutover): Promise<void> {
  const { live } = cutover;
  const rehearsed = live.job.rehearsal_job_id === null ? [NOT_REHEARSED] : [];
  const warnings = [...rehearsed, ...(await prepare(context, cutover))];
  await live.reach('schema_ready');
  await stopService(context, cutover);
  await makeBackup(context, cutover);
  await moveData(context, cutover, warnings);
  await promote(context, cutover);
  await pointAtPostgres(context, cutover);
  await saveConfiguration(context, cutover);
  await startService(cutover);
  await finish(context, cutover);
}

async function stopService(context: MigrationContext, { subject, live, held }: Cutover): Promise<void> {
  live.tell('stopping', 20, 'The service is stopped');
  await live.note({ stoppedAtMs: Date.now() });
  await stopAndProve(context, held);
  await live.reach('service_stopped', {}, { options: storedOptions(context, subject) });
}

/** Resolves once the process and its whole group have ended. Rejects with a MigrationFault after a minute. */
export async function stopAndProve({ host }: Pick<MigrationContext, 'host'>, held: HeldProcess): Promise<void> {
  const { pgid, processName } = held.snapshot();
  await held.stop();
  const isGone = (): boolean => held.snapshot().pid === null && (pgid === null || !isGroupAlive(pgid));
  for (const untilMs = performance.now() + STOP_MS; !isGone(); await delay(host.paced(POLL_MS)))
    if (performance.now() > untilMs)
      throw new MigrationFault('stopping', 'migration.stop', `${processName} does not end; something of it still runs`);
}

function isGroupAlive(pgid: number): boolean {
  try {
    process.kill(-pgid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The options that a cutover sets, as the configuration file holds them now. */
function storedOptions({ host }: MigrationContext, { named, service }: Cutover['subject']): JobWork['options'] {
  const stored = (host.use('config.store').stored(named.path) ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(service.databases.map(({ option }) => [option, stored[option] ?? null]));
}

async function makeBackup(context: MigrationContext, { subject, live, signal }: Cutover): Promise<void> {
  const { host, places, sources } = context;
  live.tell('backup', 22, 'The databases and settings are copied');
  const directory = await places.backup(subject.processName, live.job.job_id);
  const files: BackupFile[] = [];
  const settings = subject.switchedFile;
  if (settings !== undefined) files.push(await backUp(directory, path.basename(settings), settings, { signal }));
  const { file: mainFile } = host.use('config.store');
  files.push(await backUp(directory, path.basename(mainFile), mainFile, { signal }));
  for (const { label, source } of await subject.databases()) {
    const isNeeded = label === 'main' || live.job.include_logs;
    if (!isNeeded) continue;
    await sources.closeLog(source, signal);
    const name = copyOf(label);
    const size = (await sizeOf(source.file)) ?? 0;
    const file = await backUp(directory, name, source.file, {
      signal,
      copied: bytes =>
        live.refresh('backup', 22 + (BYTES_PERCENT * bytes) / Math.max(bytes, size), `${bytes} bytes copied`),
    });
    await sources.checkCopy(path.join(directory, name), null, signal);
    files.push(file);
  }
  const fault = await faultOfBackup(directory, files);
  if (fault !== undefined) throw new MigrationFault('backup', 'migration.backup', fault);
  live.tell('backup', 35, 'The backup is whole');
  const copy = settings === undefined ? null : path.join(directory, path.basename(settings));
  const paths = { backup_dir: directory, app_config_backup: copy, rollback_available: true };
  await live.reach('cold_backup_verified', paths, { backup: files });
}

async function moveData(context: MigrationContext, cutover: Cutover, warnings: readonly string[]): Promise<void> {
  const { subject, live } = cutover;
  const directory = live.job.backup_dir ?? '';
  const labels = live.work.databases.filter(({ label }) => label === 'main' || live.job.include_logs);
  const copies = new Map(labels.map(({ label }) => [label, path.join(directory, copyOf(label))]));
  const transfer = await importData(context, { ...cutover, copies });
  const targets = new Map(live.work.databases.map(({ label, target }) => [label, target]));
  const imported = importedToWire(transfer, targets, subject.service.keyTables);
  const outcome = {
    ...imported,
    mode: 'cutover',
    cutover_performed: true,
    sqlite_runtime_restored: false,
    postgres_databases: [...targets.values()],
    sqlite_backups: Object.fromEntries(copies),
    preserved_databases: [],
    warnings: [...warnings, ...imported.warnings],
    timings: {},
  };
  live.tell('validation', 92, 'Every row arrived as it was sent');
  await live.reach('import_validated', {}, { outcome });
}

async function promote({ server }: MigrationContext, { live }: Cutover): Promise<void> {
  live.tell('cutover', 93, 'The databases get their names, and the service is pointed at them');
  const short = live.job.job_id.slice(0, 8);
  const databases = [];
  for (const one of live.work.databases) {
    const present = await server.content(one.target);
    const name = `prev_${live.job.service_key}_${short}_${one.label}`;
    const previous = present === null ? null : { oid: present.oid, name, isEmpty: present.tableCount === 0 };
    databases.push({ ...one, previous });
  }
  await live.note({ databases });
  await server.promote(databases);
  await live.reach('target_promoted');
}

/**
 * Edits the settings file of the program, if it has one. Variables need nothing here: the start sets them from the
 * block.
 */
async function pointAtPostgres({ host, server }: MigrationContext, { subject, live }: Cutover): Promise<void> {
  const { service, switchedFile, named } = subject;
  if (switchedFile !== undefined) {
    const names = Object.fromEntries(live.work.databases.map(({ label, target }) => [label, target]));
    const values = inRoot(service, serverTexts(service.settings ?? {}, server.managed.access(), names));
    const wanted = { seed: undefined, values, initial: {}, mode: 0o600, owner: null };
    await host.use('config.files').ensure(named, switchedFile, wanted);
  }
  await live.reach('app_config_written');
}

async function saveConfiguration(context: MigrationContext, { subject, live }: Cutover): Promise<void> {
  const { host, guard, server } = context;
  const { processName, service } = subject;
  const targets = Object.fromEntries(live.work.databases.map(({ label, target }) => [label, target]));
  const name = server.managed.place()?.processName ?? '';
  const missing = Object.values(targets).filter(target => !server.managed.isRegistered(target));
  await live.note({ registered: missing, disabled: missing.filter(target => server.managed.isDisabled(target)) });
  const updates = movedOptions(service, targets);
  const save = () => host.use('config.store').update({ processName, updates, persist: true, actor: host.name });
  await guard.changing(processName, Object.keys(updates), save);
  for (const target of missing)
    await guard.changing(name, ['enabled', 'databases'], () => server.managed.register(target));
  await live.reach('service_config_saved');
}

async function startService({ live, held }: Cutover): Promise<void> {
  live.tell('starting', 95, live.job.was_running ? 'The service starts on PostgreSQL' : 'The service stays stopped');
  if (live.job.was_running) await held.start();
  await live.reach('service_started');
}

async function finish(context: MigrationContext, { subject, live, signal }: Cutover): Promise<void> {
  if (live.job.was_running) await waitUntilHealthy(context.host, subject.processName, signal, { isStarted: true });
  const { stoppedAtMs } = live.work;
  // The clock may have been set back meanwhile.
  const downtime = stoppedAtMs === null ? 0 : Math.round(Math.max(0, Date.now() - stoppedAtMs) / 100) / 10;
  await live.reach('healthy');
  await finalize(context, { subject, live }, { ...live.timings, downtime_seconds: downtime });
}

/** The databases that a promotion has set aside. */
export function setAside({ databases }: Pick<JobWork, 'databases'>): JobWork['preserved'] {
  return databases.flatMap(({ previous }) => (previous === null ? [] : [{ oid: previous.oid, name: previous.name }]));
}

/** Ends a cutover whose service works: clears up and completes the job. Also used after a restart of the host. */
export async function finalize(
  { server, places, files }: MigrationContext,
  { subject, live }: Pick<Cutover, 'subject' | 'live'>,
  timings: Readonly<Record<string, number>>,
  more: { readonly recovered_after_restart?: true } = {},
): Promise<void> {
  const { outcome, databases } = live.work;
  live.tell('finalizing', 98, 'What was done is written down');
  await live.change({ status: 'finalizing' });
  const previous = databases.flatMap(one => one.previous ?? []);
  const preserved = previous.filter(({ isEmpty }) => !isEmpty).map(({ oid, name }) => ({ oid, name }));
  live.tell('cleanup', 99, 'What is no longer needed is removed');
  await places.removeWork(live.job.job_id);
  await live.note({ preserved });
  const empty = previous.filter(({ isEmpty }) => isEmpty);
  // A server that does not answer does not make the cutover fail: its databases stay, and a warning says so.
  const isClean = await clear({ server, files }, live, empty).then(
    () => true,
    () => false,
  );
  const warnings = isClean ? [] : ['databases of earlier migrations could not be removed from PostgreSQL'];
  live.tell('completed', 100, `${subject.processName} uses PostgreSQL now; its SQLite files stay as they were`);
  await live.end('completed', {
    result: outcome && {
      ...outcome,
      ...more,
      preserved_databases: preserved.map(({ name }) => name),
      warnings: [...outcome.warnings, ...warnings],
      timings: { ...timings },
    },
  });
}

/** Removes empty databases that were set aside, and those that earlier cutovers of the same service have kept. */
async function clear(
  { server, files }: Pick<MigrationContext, 'server' | 'files'>,
  live: Preparation['live'],
  empty: JobWork['preserved'],
): Promise<void> {
  await server.dropPreserved(empty);
  for (const record of files.list(live.job.process_name)) {
    if (record.job.job_id === live.job.job_id || record.work.preserved.length === 0) continue;
    await server.dropPreserved(record.work.preserved);
    await files.save({ ...record, work: { ...record.work, preserved: [] } });
  }
}
