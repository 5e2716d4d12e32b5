// The single checks before a migration. Each says what it found and, when it fails, what to do.
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Host } from '#core';
import { byteText } from '#kit/byte-text';
import { withDeadline } from '#kit/deadline';
import { errorText } from '#kit/error-text';
import { reachOf } from '#kit/service-user';
import { serverTexts } from './helper-launch.ts';
import { isActive } from './job.ts';
import type { JobFiles } from './job-files.ts';
import type { Places } from './places.ts';
import type { DatabaseContent, Server, ServerFacts } from './server.ts';
import type { SourceFacts, SqliteSources } from './sqlite-source.ts';
import { movedOptions, type Subject, type SubjectDatabase } from './subject.ts';
import { isOlder } from './version-order.ts';
import type { Check, Report } from './wire.ts';

const DISK_MS = 5_000;
const GIB = 1024 ** 3;

export interface PreflightContext {
  readonly host: Host;
  readonly files: JobFiles;
  readonly places: Places;
  readonly server: Server;
  readonly sources: SqliteSources;
}

export interface Source extends SubjectDatabase {
  readonly facts: SourceFacts;
  readonly quickCheck: string | null;
  readonly foreignKeyViolations: number | null;
  readonly fault: string | null;
}

export interface ServerState {
  readonly facts: ServerFacts | null;
  /** Why the server cannot be used; null when it can. */
  readonly fault: string | null;
  readonly targets: ReadonlyMap<string, DatabaseContent | null>;
}

function check(id: string, status: Check['status'], message: string, more: Record<string, unknown> = {}): Check {
  return { id, status, message, ...more };
}

export function serviceEnabled({ processName, block }: Subject): Check {
  if (block.enabled === true) return check('service_enabled', 'pass', `${processName} is enabled`);
  return check('service_enabled', 'fail', `${processName} is disabled; enable it first`);
}

export function sqliteMode({ processName, block }: Subject): Check {
  if (block.postgres_enabled !== true) return check('sqlite_mode', 'pass', `${processName} uses SQLite`);
  return check('sqlite_mode', 'fail', `${processName} uses PostgreSQL already`);
}

export function migrationActive(
  { files }: PreflightContext,
  { processName }: Subject,
  ownJobId: string | undefined,
): Check {
  const active = files.list(processName).find(({ job }) => isActive(job) && job.job_id !== ownJobId);
  if (active === undefined) return check('migration_active', 'pass', 'No migration of it is under way');
  const more = { job_id: active.job.job_id };
  return check('migration_active', 'fail', 'A migration of it is under way; wait for its end', more);
}

/** `isMoved`: whether the job moves this database too, so that it must be whole. */
export function sqliteCheck(
  { label, source, facts, quickCheck, foreignKeyViolations, fault }: Source,
  isMoved: boolean,
): Check {
  const id = `sqlite_${label}`;
  const bad = isMoved ? 'fail' : 'warn';
  const more = {
    path: source.file,
    bytes: facts.bytes,
    display_size: facts.bytes === null ? null : byteText(facts.bytes),
    foreign_key_violations: foreignKeyViolations,
  };
  if (!facts.exists) return check(id, bad, `${source.file} does not exist; start the service once`, more);
  if (fault !== null) return check(id, bad, fault, more);
  if (quickCheck === null)
    return check(id, 'warn', 'The database is so large that it is checked during the migration only', more);
  if (quickCheck !== 'ok') return check(id, bad, 'The SQLite database is damaged; restore it from a backup', more);
  if (foreignKeyViolations !== 0)
    return check(id, bad, `${foreignKeyViolations} of its rows refer to rows that do not exist`, more);
  return check(id, 'pass', 'The SQLite database is whole', more);
}

/** No check for a service without a settings file. */
export async function serviceConfig(subject: Subject): Promise<Check[]> {
  if (subject.settingsFile === undefined) return [];
  const more = { path: subject.settingsFile };
  try {
    await subject.settings();
    return [check('service_config', 'pass', 'The settings of the service can be read', more)];
  } catch (error) {
    return [check('service_config', 'fail', `The settings of the service cannot be read: ${errorText(error)}`, more)];
  }
}

/** Fails when a variable of the moved service would override the choice of the database. */
export async function configOverride(
  { server }: PreflightContext,
  subject: Subject,
  databases: readonly SubjectDatabase[],
): Promise<Check> {
  const { service } = subject;
  const { overridingVariables, variables = {} } = service;
  const targets = Object.fromEntries(databases.map(({ label, target }) => [label, target]));
  // A missing server is reported by another check.
  const isServed = server.managed.place() !== undefined;
  const wanted = isServed ? serverTexts(variables, server.managed.access(), targets) : {};
  const plan = await subject.launchPlan(movedOptions(service, targets)).catch(() => ({ env: wanted }));
  const isOverriding = (name: string): boolean =>
    overridingVariables.some(beginning => name.toUpperCase().startsWith(beginning));
  const keys = [
    ...Object.keys(plan.env).filter(isOverriding),
    ...Object.keys(wanted).filter(name => plan.env[name] !== wanted[name]),
  ];
  if (keys.length === 0) return check('config_override', 'pass', 'No variable overrides the choice of the database');
  const message = `These variables of the service would win over the move; remove them from its env: ${keys.join(', ')}`;
  return check('config_override', 'fail', message, { keys });
}

export function versionCheck(version: string | null, minimum: string | undefined): Check {
  const more = { detected: version, minimum: minimum ?? null };
  if (version === null)
    return check('service_version', 'warn', 'The version of the program could not be found out', more);
  if (minimum !== undefined && isOlder(version, minimum))
    return check('service_version', 'fail', `Version ${version} knows no PostgreSQL; update to ${minimum} first`, more);
  return check('service_version', 'pass', `Version ${version} knows PostgreSQL`, more);
}

export function serverChecks({ host, server }: PreflightContext, { facts, fault }: ServerState): Check[] {
  const place = server.managed.place();
  const status = place === undefined ? undefined : host.use('process.supervisor').get(place.processName)?.status;
  const isUp = place?.isEnabled === true && status === 'running';
  const enabled = isUp
    ? check('postgres_enabled', 'pass', 'The managed PostgreSQL runs')
    : check('postgres_enabled', 'fail', 'The managed PostgreSQL does not run; enable and start it first');
  if (facts === null) return [enabled, check('postgres_connection', 'fail', fault ?? 'PostgreSQL does not answer')];
  const { superuser, createdb } = facts.role;
  return [
    enabled,
    check('postgres_connection', 'pass', 'PostgreSQL takes the configured user'),
    superuser && createdb
      ? check('postgres_role', 'pass', 'Its user may do what a migration needs')
      : check('postgres_role', 'fail', 'Its user must be a superuser that may create databases; make it one'),
    facts.encoding === 'UTF8' || facts.encoding === 'SQL_ASCII'
      ? check('postgres_encoding', 'pass', 'It can make databases in UTF-8', { encoding: facts.encoding })
      : check('postgres_encoding', 'fail', 'It cannot make databases in UTF-8', { encoding: facts.encoding }),
  ];
}

export async function targetReset(
  subject: Subject,
  databases: readonly SubjectDatabase[],
  { targets }: ServerState,
): Promise<Check> {
  const found = await Promise.all(databases.map(({ target }) => subject.obstacleOf(target)));
  const obstacles = found.filter(obstacle => obstacle !== undefined);
  const names = new Set(databases.map(({ target }) => target));
  if (names.size < databases.length) obstacles.push('two databases of the service have the same name');
  const more = { targets: Object.fromEntries(databases.map(one => targetToWire(one, targets))) };
  if (obstacles.length > 0)
    return check('target_reset', 'fail', `${obstacles.join('; ')}; name another in the configuration`, more);
  const filled = databases.filter(({ target }) => (targets.get(target)?.tableCount ?? 0) > 0);
  if (filled.length === 0)
    return check('target_reset', 'pass', 'The databases in PostgreSQL are absent or empty', more);
  const those = filled.map(({ target }) => target).join(', ');
  return check('target_reset', 'warn', `${those} in PostgreSQL will be set aside, and kept until a later move`, more);
}

export async function space(id: string, place: string, wantedBytes: number): Promise<Check> {
  const requiredBytes = Math.max(wantedBytes, GIB);
  try {
    const { bavail, bsize } = await withDeadline(() => statfs(place), DISK_MS, `the file system of ${place}`);
    const freeBytes = bavail * bsize;
    const more = { free_bytes: freeBytes, required_bytes: requiredBytes };
    const words = `${byteText(freeBytes)} are free where ${byteText(requiredBytes)} are needed (${place})`;
    return freeBytes >= requiredBytes ? check(id, 'pass', words, more) : check(id, 'fail', `Only ${words}`, more);
  } catch (error) {
    return check(id, 'fail', `The free space could not be found out: ${errorText(error)}`, {
      free_bytes: null,
      required_bytes: requiredBytes,
    });
  }
}

export async function postgresSpace({ server }: PreflightContext, wantedBytes: number): Promise<Check[]> {
  const directory = server.managed.place()?.directory;
  return directory === undefined ? [] : [await space('postgres_space', directory, wantedBytes)];
}

export async function runtime({ host, places }: PreflightContext, subject: Subject): Promise<Check> {
  try {
    const { argv, user } = await subject.launchPlan();
    const [program = ''] = argv;
    if (program === '') return check('runtime', 'fail', 'The service has no command; set its key command');
    // The helper instance keeps its data below this directory.
    const wanted = [{ place: path.dirname(places.root), use: 'enter' } as const];
    const [reach] = user === null ? ['open' as const] : await reachOf(wanted, user);
    if (typeof reach === 'object') {
      const message = `The user of the service cannot pass ${reach.closed} (${host.paths.configDir}); open it with chmod o+x`;
      return check('runtime', 'fail', message);
    }
    return check('runtime', 'pass', 'The program is installed');
  } catch (error) {
    return check('runtime', 'fail', errorText(error));
  }
}

export type Targets = ServerState['targets'];
type Target = Report['postgres']['targets'][string];

export function targetToWire({ label, target }: SubjectDatabase, targets: Targets): [string, Target] {
  const content = targets.get(target) ?? null;
  const counts = { table_count: content?.tableCount ?? 0, row_count: content?.rowCount ?? 0 };
  return [label, { name: target, exists: content !== null, ...counts }];
}
