// Makes the tables of a service in PostgreSQL: a helper instance of the installed program, with data and settings of its
// own, makes them as it would at its first start.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Host, Problem } from '#core';
import { writeFileAtomic } from '#kit/atomic-write';
import { GuardedDirectory } from '#kit/guarded-directory';
import { helperCommand, helperEnvironment, helperSettings } from './helper-launch.ts';
import { HelperProcess } from './helper-process.ts';
import type { LiveJob } from './live-job.ts';
import { MigrationFault } from './migration-fault.ts';
import type { Places } from './places.ts';
import type { Server } from './server.ts';
import type { Subject } from './subject.ts';

const MAX_SETTINGS_BYTES = 1024 * 1024;
const POLL_MS = 250;
const ANSWER_MS = 5_000;
/** The tables count as complete once nothing was added for this long. */
const QUIET_MS = 5_000;
const LIMIT_MS = 900_000;
const STUCK_MS = 180_000;

export interface Building {
  readonly host: Host;
  readonly places: Places;
  readonly server: Server;
  readonly subject: Subject;
  readonly live: LiveJob;
  readonly signal: AbortSignal;
}

/** Gives the versions of the schema that the program has made. Rejects with a MigrationFault. */
export async function buildSchema(building: Building): Promise<readonly string[]> {
  const { places, server, subject, live, signal } = building;
  const { service, user } = subject;
  const plan = await subject.launchPlan();
  const data = await places.owned(await places.work(live.job.job_id), 'appdata', user);
  const port = await freePort();
  await writeSettings(building, data, port);
  const command = {
    argv: helperCommand(plan.argv, service.helper, { data, port: String(port) }),
    cwd: data,
    env: helperEnvironment(service, plan.env),
    user,
    secrets: [server.managed.access().password].filter(Boolean),
  };
  const helper = await HelperProcess.start(command, identity => live.note({ helper: identity }));
  try {
    return await complete(building, helper, port);
  } finally {
    await helper.stop();
    for (const { staging } of live.work.databases) await server.endSessions(staging).catch(() => undefined);
    if (!signal.aborted) await live.note({ helper: null });
  }
}

/** A copy of the service's settings, changed so that it touches nothing of the service. */
async function writeSettings({ host, server, subject, live }: Building, data: string, port: number): Promise<void> {
  const { service, settingsFile, user } = subject;
  const values = helperSettings(service, {
    port,
    key: randomBytes(16).toString('hex'),
    includesLogs: live.job.include_logs,
    server: server.managed.access(),
    databases: Object.fromEntries(live.work.databases.map(({ label, staging }) => [label, staging])),
  });
  const text = await GuardedDirectory.at(settingsFile, (directory, name) => directory.read(name, MAX_SETTINGS_BYTES));
  const extension = path.extname(settingsFile);
  const format = [...host.contributions('config.format').values()].find(one => one.extensions.includes(extension));
  if (text === null || format === undefined)
    throw new MigrationFault('schema', 'migration.settings', `${settingsFile} is missing or cannot be edited`);
  const edited = await format.edit(text.toString('utf8'), { [service.settingsRoot]: values }, 'merge');
  const copy = path.join(data, service.settingsFile);
  await writeFileAtomic(copy, edited.text, { mode: 0o600, owner: user });
}

async function complete(
  { host, server, subject, live, signal }: Building,
  helper: HelperProcess,
  port: number,
): Promise<readonly string[]> {
  const { versions, helper: facts } = subject.service;
  const staging = live.work.databases[0]?.staging ?? '';
  const startedMs = performance.now();
  let found: readonly string[] = [];
  let changedMs = startedMs;
  for (;;) {
    signal.throwIfAborted();
    if (helper.end !== undefined) throw fault(`the helper instance made no tables: ${helper.end}`);
    const now = await server.versions(staging, versions);
    if (now.length !== found.length) {
      changedMs = performance.now();
      found = now;
      live.refresh('schema', 5 + Math.min(12, now.length / 25), `${now.length} versions of the tables are made`);
    }
    const quietMs = performance.now() - changedMs;
    const isQuiet = found.length > 0 && quietMs >= host.paced(QUIET_MS);
    if (isQuiet && (await answers(host, `http://127.0.0.1:${port}${facts.readyPath}`))) {
      // What was made until it answered is not in what was found before.
      const all = await server.versions(staging, versions);
      if (all.length === found.length) return all;
    }
    if (quietMs > STUCK_MS) throw fault('the helper instance made no further tables for three minutes');
    if (performance.now() - startedMs > LIMIT_MS) throw fault('the helper instance was not done within 15 minutes');
    await delay(host.paced(POLL_MS), undefined, { signal });
  }
}

async function answers(host: Host, url: string): Promise<boolean> {
  try {
    return (await host.fetch(url, { timeoutMs: ANSWER_MS })).status === 200;
  } catch {
    return false;
  }
}

function fault(message: string): MigrationFault {
  return new MigrationFault('schema', 'migration.schema', message);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => (port > 0 ? resolve(port) : reject(new Problem(503, 'No port is free for a helper instance'))));
    });
  });
}

/**
 * Compares what the program has made with what it has noted in SQLite; gives a warning. Rejects with a MigrationFault
 * where the rows of the one do not fit the tables of the other.
 */
export function compareVersions(inSqlite: readonly string[], inPostgres: readonly string[]): string | undefined {
  const [old, made] = [highest(inSqlite), highest(inPostgres)];
  if (old < made)
    throw fault(
      'the SQLite database is older than the program; start the service once on SQLite, so that it finishes its own update',
    );
  if (old > made) throw fault('the installed program is older than its data; update it first');
  const alone = inSqlite.filter(version => !inPostgres.includes(version)).length;
  return alone === 0 ? undefined : `${alone} versions of the tables are noted in SQLite alone`;
}

function highest(versions: readonly string[]): bigint {
  const numbers = versions.filter(version => /^\d+$/.test(version)).map(BigInt);
  return numbers.sort((a, b) => (a < b ? -1 : Number(a > b))).at(-1) ?? -1n;
}
