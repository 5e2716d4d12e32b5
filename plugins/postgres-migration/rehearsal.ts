// A rehearsal: everything that a cutover does with the data, on a snapshot, while the service goes on untouched.
import { chown } from 'node:fs/promises';
import path from 'node:path';
import { importData, importedToWire } from './data-import.ts';
import type { MigrationContext } from './migration-context.ts';
import { type Preparation, prepare } from './preparation.ts';

/** The job has ended as completed when this resolves. */
export async function rehearse(context: MigrationContext, preparation: Preparation): Promise<void> {
  const { server, places } = context;
  const { subject, live } = preparation;
  const warnings = await prepare(context, preparation);
  const copies = await takeSnapshots(context, preparation);
  const transfer = await importData(context, { ...preparation, copies });
  live.tell('cleanup', 96, 'What the rehearsal has made is removed');
  await server.undo(live.work.databases);
  await places.removeWork(live.job.job_id);
  const targets = new Map(live.work.databases.map(({ label, staging }) => [label, staging]));
  const imported = importedToWire(transfer, targets, subject.service.keyTables);
  const message = `The rehearsal has succeeded; ${subject.processName} remains on SQLite`;
  live.tell('completed', 100, message);
  await live.end('completed', {
    result: {
      ...imported,
      mode: 'rehearsal',
      cutover_performed: false,
      sqlite_runtime_restored: true,
      preserved_databases: [],
      warnings: [...warnings, ...imported.warnings],
      timings: live.timings,
    },
  });
}

/** Copies each database in one transaction. Afterwards only the host can reach the directory of the copies. */
async function takeSnapshots(
  { places, sources }: MigrationContext,
  { subject, live, signal }: Preparation,
): Promise<ReadonlyMap<string, string>> {
  live.tell('backup', 20, 'A snapshot of the SQLite database is taken; the service goes on');
  const directory = await places.owned(await places.work(live.job.job_id), 'snapshot', subject.user);
  const databases = (await subject.databases()).filter(({ label }) => label === 'main' || live.job.include_logs);
  const copies = new Map<string, string>();
  for (const { label, source } of databases) {
    const into = path.join(directory, `${label}.db`);
    await sources.snapshot(source, into, signal);
    await sources.checkCopy(into, subject.user, signal);
    copies.set(label, into);
  }
  if (subject.user !== null) await chown(directory, process.geteuid?.() ?? 0, process.getegid?.() ?? 0);
  live.tell('backup', 35, 'The snapshot is whole');
  return copies;
}
