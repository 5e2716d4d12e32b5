// The steps that a rehearsal and a cutover have in common: checks, empty databases, and their tables.

import type { LiveJob } from './live-job.ts';
import type { MigrationContext } from './migration-context.ts';
import { MigrationFault } from './migration-fault.ts';
import { preflight } from './preflight.ts';
import { buildSchema } from './schema-builder.ts';
import { compareVersions } from './schema-versions.ts';
import type { Subject } from './subject.ts';

export interface Preparation {
  readonly subject: Subject;
  readonly live: LiveJob;
  readonly signal: AbortSignal;
}

/**
 * Makes the databases and their tables while the service goes on. Gives warnings. Rejects with a MigrationFault when a
 * check fails.
 */
export async function prepare(context: MigrationContext, preparation: Preparation): Promise<string[]> {
  await repeatChecks(context, preparation);
  await makeDatabases(context, preparation);
  const { subject, live } = preparation;
  live.tell('schema', 5, 'The program makes the tables in PostgreSQL; the service goes on');
  const made = await buildSchema({ ...context, ...preparation });
  const [main] = await subject.databases();
  if (main === undefined) throw new Error(`${subject.processName} has no database`);
  const { versions, fault } = await context.sources.facts(main.source, subject.service.versions);
  if (fault !== null) throw new MigrationFault('schema', 'migration.source', fault);
  const warning = compareVersions(subject.service, versions, made);
  live.tell('schema', 18, 'The tables are complete');
  return warning === undefined ? [] : [warning];
}

async function repeatChecks(context: MigrationContext, { subject, live }: Preparation): Promise<void> {
  live.tell('preflight', 1, 'The checks are repeated');
  const report = await preflight(context, subject, {
    ownJobId: live.job.job_id,
    includesLogs: live.job.include_logs,
  });
  const failed = report.checks.filter(({ status }) => status === 'fail').map(({ id }) => id);
  if (failed.length > 0)
    throw new MigrationFault('preflight', 'migration.preflight', `these checks failed: ${failed.join(', ')}`);
}

async function makeDatabases({ server }: MigrationContext, { live }: Preparation): Promise<void> {
  live.tell('postgres', 3, 'Databases are made in PostgreSQL, beside those that are there');
  for (const { label, staging } of live.work.databases) {
    const oid = await server.create(staging);
    const databases = live.work.databases.map(one => (one.label === label ? { ...one, stagingOid: oid } : one));
    await live.note({ databases });
  }
}
