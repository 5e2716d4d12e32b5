// Makes the tables of a service in PostgreSQL with a helper: an instance of the installed program with its own data and
// settings, or a script that comes with the program, which makes them as for a new installation.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Host, Problem } from '#core';
import { writeFileAtomic } from '#kit/atomic-write';
import { deepEqual } from '#kit/deep-equal';
import { GuardedDirectory } from '#kit/guarded-directory';
import type { SchemaHelper } from './contract.ts';
import { type HelperValues, helperCommand, helperEnvironment, helperSettings, inRoot } from './helper-launch.ts';
import { HelperProcess } from './helper-process.ts';
import type { LiveJob } from './live-job.ts';
import { MigrationFault } from './migration-fault.ts';
import type { Places } from './places.ts';
import type { MadeSchema, Server } from './server.ts';
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
  const access = server.managed.access();
  const values = {
    data,
    port: await freePort(),
    key: randomBytes(16).toString('hex'),
    includesLogs: live.job.include_logs,
    server: access,
    databases: Object.fromEntries(live.work.databases.map(({ label, staging }) => [label, staging])),
  };
  await writeSettings(building, values);
  const command = {
    argv: helperCommand(plan.argv, service.helper, values),
    cwd: (service.helper.isInPlace && plan.cwd) || data,
    env: helperEnvironment(service, plan.env, values),
    user,
    secrets: [access.password].filter(Boolean),
  };
  const helper = await HelperProcess.start(command, identity => live.note({ helper: identity }));
  try {
    return await complete(building, helper, values.port);
  } finally {
    await helper.stop();
    for (const { staging } of live.work.databases) await server.endSessions(staging).catch(() => undefined);
    if (!signal.aborted) await live.note({ helper: null });
  }
}

/** Writes the helper's settings file below its own data. Does nothing for a program that needs none. */
async function writeSettings(building: Building, values: HelperValues): Promise<void> {
  const { places, subject } = building;
  const { settingsFile, helper } = subject.service;
  const text = helper.settingsText ?? (await changedSettings(building, values));
  if (settingsFile === undefined || text === undefined) return;
  const directory = path.dirname(settingsFile);
  if (directory !== '.') await places.owned(values.data, directory, subject.user);
  await writeFileAtomic(path.join(values.data, settingsFile), text, { mode: 0o600, owner: subject.user });
}

/** The text of the service's settings with the values of the helper; undefined when a cutover changes no settings. */
async function changedSettings({ host, subject }: Building, values: HelperValues): Promise<string | undefined> {
  const { service, switchedFile: file } = subject;
  if (file === undefined) return undefined;
  const text = await GuardedDirectory.at(file, (directory, name) => directory.read(name, MAX_SETTINGS_BYTES));
  const extension = path.extname(file);
  const format = [...host.contributions('config.format').values()].find(one => one.extensions.includes(extension));
  if (text === null || format === undefined)
    throw new MigrationFault('schema', 'migration.settings', `${file} is missing or cannot be edited`);
  const wanted = inRoot(service, helperSettings(service, values));
  return (await format.edit(text.toString('utf8'), wanted, 'merge')).text;
}

async function complete(
  { host, server, subject, live, signal }: Building,
  helper: HelperProcess,
  port: number,
): Promise<readonly string[]> {
  const { versions, helper: facts } = subject.service;
  const staging = live.work.databases[0]?.staging ?? '';
  const isUp = async (): Promise<boolean> =>
    facts.readyPath === undefined ? helper.hasSucceeded : answers(host, `http://127.0.0.1:${port}${facts.readyPath}`);
  const startedMs = performance.now();
  let found: MadeSchema = { versions: [], tables: 0 };
  let changedMs = startedMs;
  for (;;) {
    signal.throwIfAborted();
    const { end } = helper;
    const now = await server.schema(staging, versions);
    if (end !== undefined && !isDoneScript(helper, facts, now)) throw fault(`the helper made no tables: ${end}`);
    if (!deepEqual(now, found)) {
      changedMs = performance.now();
      found = now;
      tellMade(live, now);
    }
    const quietMs = performance.now() - changedMs;
    const isQuiet = found.versions.length > 0 && quietMs >= host.paced(QUIET_MS);
    // The helper may have made more tables before it answered, so the schema is read once more.
    if (isQuiet && (await isUp()) && deepEqual(await server.schema(staging, versions), found)) return found.versions;
    if (quietMs > STUCK_MS) throw fault('the helper made no further tables for three minutes');
    if (performance.now() - startedMs > LIMIT_MS) throw fault('the helper was not done within 15 minutes');
    await delay(host.paced(POLL_MS), undefined, { signal });
  }
}

/** Whether the helper is a script that has ended because the tables are made. */
function isDoneScript(helper: HelperProcess, { script }: SchemaHelper, { versions }: MadeSchema): boolean {
  return script !== undefined && helper.hasSucceeded && versions.length > 0;
}

function tellMade(live: LiveJob, { versions, tables }: MadeSchema): void {
  live.refresh('schema', 5 + Math.min(12, tables / 5), `${versions.length} versions of the tables are made`);
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
