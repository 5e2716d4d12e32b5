// The report on whether a service can be moved now. It writes nothing and starts nothing.
import { createHash } from 'node:crypto';
import { Problem } from '#core';
import { byteText } from '#kit/byte-text';
import { errorText } from '#kit/error-text';
import { obstacleToBackup } from './backup.ts';
import type { PreflightContext, ServerState, Source, Targets } from './checks.ts';
import * as checks from './checks.ts';
import type { JobFiles } from './job-files.ts';
import { codeOf, type DatabaseContent } from './server.ts';
import type { Subject, SubjectDatabase } from './subject.ts';
import type { Report } from './wire.ts';

/** Free space for the backup as a multiple of the source's bytes: room for a copy, and for checking it. */
const BACKUP_FACTOR = 2;
/** The same in PostgreSQL, where rows and indexes take more room and replaced databases are kept. */
const SERVER_FACTOR = 3;
const NOTICE =
  'Rehearse the move first: the service goes on meanwhile, and nothing of it is changed. The move itself stops the ' +
  'service for as long as its data is copied. The SQLite files stay as they are, so that it can be rolled back; what the ' +
  'service writes to PostgreSQL after the move is not copied back.';

interface PreflightOptions {
  /** The id of the job that repeats the checks. */
  readonly ownJobId?: string;
  /** Whether the database of logs is to be moved too. One that does not exist is passed over. */
  readonly includesLogs?: boolean;
}

export async function preflight(
  context: PreflightContext,
  subject: Subject,
  { ownJobId, includesLogs = false }: PreflightOptions = {},
): Promise<Report> {
  const { service } = subject;
  const databases = await subject.databases();
  const [sources, version, state] = await Promise.all([
    Promise.all(databases.map(database => lookAt(context, subject, database))),
    subject.version(),
    lookAtServer(context, databases),
  ]);
  const main = sources[0];
  if (main === undefined) throw new Error(`${service.configKey} has no database`);
  const bytes = sources.reduce((sum, { facts }) => sum + (facts.bytes ?? 0), 0);
  const made = [
    checks.serviceEnabled(subject),
    checks.sqliteMode(subject),
    checks.migrationActive(context, subject, ownJobId),
    ...sources.map(source =>
      checks.sqliteCheck(source, source.label === 'main' || (includesLogs && source.facts.exists)),
    ),
    ...(await checks.serviceConfig(subject)),
    await checks.configOverride(context, subject, databases),
    checks.versionCheck(version, service.minimumVersion),
    ...checks.serverChecks(context, state),
    ...(state.facts === null ? [] : [await checks.targetReset(subject, databases, state)]),
    await checks.space('backup_space', context.host.paths.configDir, BACKUP_FACTOR * bytes),
    ...(await checks.postgresSpace(context, SERVER_FACTOR * bytes)),
    await checks.runtime(context, subject),
  ];
  const failures = made.filter(({ status }) => status === 'fail').length;
  const log = databases.find(({ label }) => label === 'log');
  return {
    process_name: subject.processName,
    service_key: service.configKey,
    instance_name: subject.instanceName,
    supported: true,
    ready: failures === 0,
    running: subject.isRunning,
    postgres_enabled: subject.block.postgres_enabled === true,
    service_version: version,
    service_source_commit: null,
    source_schema_fingerprint: main.facts.fingerprint,
    sqlite: Object.fromEntries(sources.filter(isWorthTelling).map(source => [source.label, sqliteToWire(source)])),
    postgres: {
      enabled: context.server.managed.place()?.isEnabled ?? false,
      main_database: main.target,
      log_database: log?.target ?? null,
      target_fingerprint: fingerprintOf(databases, state.targets),
      role: state.facts?.role ?? null,
      server_version: state.facts?.version ?? null,
      encoding: state.facts?.encoding ?? null,
      targets:
        state.facts === null ? {} : Object.fromEntries(databases.map(one => checks.targetToWire(one, state.targets))),
    },
    checks: made,
    failure_count: failures,
    warning_count: made.filter(({ status }) => status === 'warn').length,
    confirmation_text: confirmationText(subject.processName),
    migration_notice: NOTICE,
    rehearsal_required: false,
    supports_log_migration: log !== undefined,
    preserved_sqlite_stores: [],
    backup_root: context.places.root,
    estimate: estimateOf(context.files, subject.processName, main.facts.fingerprint),
  };
}

export function confirmationText(processName: string): string {
  return `MIGRATE ${processName}`;
}

async function lookAt(context: PreflightContext, subject: Subject, database: SubjectDatabase): Promise<Source> {
  const { sources } = context;
  const facts = await sources.facts(database.source, subject.service.versions);
  const nothing = { ...database, facts, quickCheck: null, foreignKeyViolations: null };
  if (!facts.exists || facts.fault !== null) return { ...nothing, fault: facts.fault };
  const obstacle = await obstacleToBackup(database.source.file);
  if (obstacle !== undefined) return { ...nothing, fault: obstacle };
  try {
    return { ...database, facts, fault: null, ...(await sources.quickCheck(database.source)) };
  } catch (error) {
    return { ...nothing, fault: errorText(error) };
  }
}

async function lookAtServer({ server }: PreflightContext, databases: readonly SubjectDatabase[]): Promise<ServerState> {
  const targets = new Map<string, DatabaseContent | null>();
  try {
    const facts = await server.facts();
    for (const { target } of databases) targets.set(target, await server.content(target));
    return { facts, fault: null, targets };
  } catch (error) {
    return { facts: null, fault: faultOf(error), targets };
  }
}

/** Leaves out messages of the server, because they tell users, addresses and files. */
function faultOf(error: unknown): string {
  if (error instanceof Problem) return error.message;
  const code = codeOf(error);
  if (code.startsWith('28')) return 'PostgreSQL refused the user or the password of its block; correct them there';
  if (code === 'ECLEARTEXT')
    return 'PostgreSQL asks for the password in clear text; set scram-sha-256 in its pg_hba.conf';
  if (code.startsWith('57')) return 'PostgreSQL does not take clients yet; try again in a moment';
  if (code === 'ECONNREFUSED') return 'PostgreSQL takes no connections; start it';
  return `PostgreSQL does not answer as it should${code === '' ? '' : ` (${code})`}; see its log`;
}

function isWorthTelling({ label, facts }: Source): boolean {
  return label === 'main' || facts.exists;
}

function sqliteToWire({ source, facts, quickCheck, foreignKeyViolations }: Source): Report['sqlite'][string] {
  return {
    path: source.file,
    exists: facts.exists,
    bytes: facts.bytes,
    display_size: facts.bytes === null ? null : byteText(facts.bytes),
    quick_check: quickCheck,
    foreign_key_violations: foreignKeyViolations,
  };
}

function fingerprintOf(databases: readonly SubjectDatabase[], targets: Targets): string {
  const lines = databases.map(({ target }) => {
    const content = targets.get(target);
    return `${target} ${content?.oid ?? '-'} ${content?.tableCount ?? 0} ${content?.rowCount ?? 0}`;
  });
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/** Rows and seconds of the last rehearsal with the same schema. */
function estimateOf(files: JobFiles, processName: string, fingerprint: string | null): Report['estimate'] {
  const rehearsal = files
    .list(processName)
    .find(
      ({ job }) =>
        job.mode === 'rehearsal' && job.result !== null && job.binding.source_schema_fingerprint === fingerprint,
    );
  const result = rehearsal?.job.result;
  if (fingerprint === null || result === undefined || result === null) return null;
  const rows = Object.values(result.imports).reduce((sum, one) => sum + one.rows, 0);
  const { backup = 0, import: copied = 0, validation = 0 } = result.timings;
  return { rows, seconds: Math.round(backup + copied + validation) };
}
