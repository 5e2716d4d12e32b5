// The migration itself and the way back: which database the service uses after each, and what becomes of the other.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { TestHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';
import {
  begin,
  ended,
  makeStack,
  NAME,
  PASSWORD,
  PREFIX,
  running,
  type Stack,
  startStack,
  toldOf,
} from '../../support/postgres-migration.ts';
import { until } from '../../support/until.ts';

let stack: Stack;
let app: TestHost;
let jobId = '';
const undo = (job: string, confirmation = `ROLLBACK ${NAME}`) =>
  app.post(`${PREFIX}/rollback`, { job_id: job, confirmation });
const databases = async (like: string) =>
  (await stack.query(`SELECT datname FROM pg_database WHERE datname LIKE '${like}' ORDER BY 1`)).map(
    row => row.datname,
  );
const settingsText = () => readFile(path.join(stack.home, 'config.xml'), 'utf8');
const listed = async () => (await app.get('/process?process_name=PostgreSQL')).body.config.databases;
const LISTED = [
  { name: 'postgres', enabled: true },
  { name: 'sonarr-main', enabled: false },
];
const block = async () => (await app.get(`/process?process_name=${NAME}`)).body.config;

/** Keeps every other program out of a database with a write-ahead log until the returned function is called. */
async function lock(t: Test, file: string): Promise<() => Promise<unknown>> {
  const program = `const db = new (require('better-sqlite3'))(process.argv[1])
    db.pragma('locking_mode = EXCLUSIVE')
    db.exec('BEGIN EXCLUSIVE')
    process.stdout.write('locked')
    process.stdin.resume().on('end', () => db.exec('ROLLBACK').close())`;
  const child = spawn(process.execPath, ['-e', program, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const ended = once(child, 'exit');
  return () => {
    child.stdin.end();
    return ended;
  };
}

t.before(async () => {
  stack = await makeStack(t);
  (stack.config.postgres as { databases: object[] }).databases = LISTED;
  app = await startStack(t, stack);
  await stack.query('CREATE DATABASE "sonarr-main"');
  await stack.query('CREATE TABLE "Series" AS SELECT 1 AS "Id"', 'sonarr-main');
  await stack.query('CREATE DATABASE "sonarr-log"');
});

t.test('a service is migrated to PostgreSQL, and back', async t => {
  const before = await stack.data();
  const source = stack.source();
  const settings = await settingsText();
  jobId = await begin(app, 'cutover');
  const job = await ended(app, jobId);
  const [aside] = await databases('prev_sonarr_%');
  t.match(job, {
    status: 'completed',
    error: null,
    rollback_available: true,
    rollback_checkpoint: 'healthy',
    was_running: true,
    rehearsal_job_id: null,
    result: {
      validated: true,
      cutover_performed: true,
      preserved_databases: [aside],
      warnings: ['This move was not rehearsed before, with the same version, tables and names'],
    },
  });
  t.ok(job.result.timings.downtime_seconds > 0);
  const told = { type: 'migration.succeeded', mode: 'cutover', status: 'completed' };
  t.match(await toldOf(app, job.job_id), [told]);
  t.same(await stack.data(), { ...before, engine: 'postgres' });
  t.equal(stack.source(), source);
  t.same(await stack.query('SELECT * FROM "Series"', aside), [{ Id: 1 }], 'what was there is set aside');
  t.same(await databases('stage_%'), []);
  t.match(await settingsText(), /<!-- kept -->.*<PostgresMainDb>sonarr-main<\/PostgresMainDb>/s);
  t.match(await block(), { postgres_enabled: true, postgres_main_db: 'sonarr-main', postgres_log_db: 'sonarr-log' });

  t.same(
    await listed(),
    ['postgres', 'sonarr-main', 'sonarr-log'].map(name => ({ name, enabled: true })),
  );

  const backup = job.backup_dir;
  t.same((await readdir(backup)).sort(), ['config.xml', 'sqlite-main.db', 'stackwarden.json']);
  t.equal((await stat(backup)).mode & 0o777, 0o700);
  t.equal((await stat(path.join(backup, 'sqlite-main.db'))).mode & 0o777, 0o600);

  t.equal((await undo('0'.repeat(32))).status, 404);
  t.equal((await undo(jobId, 'yes')).status, 400);
  const copy = path.join(backup, 'sqlite-main.db');
  const bytes = await readFile(copy);
  await appendFile(copy, 'x');
  const altered = await undo(jobId);
  t.match(altered, { status: 400, body: { detail: /was altered; nothing was changed/ } });
  await writeFile(copy, bytes);
  const database = path.join(stack.home, 'sonarr.db');
  // The check of the preflight counts only for the file as it was then.
  await utimes(database, new Date(), new Date());
  const unlock = await lock(t, database);
  const refused = await undo(jobId);
  t.match(refused, { status: 500, body: { detail: /database is locked; end what keeps it from .*, then try again$/ } });
  t.match((await app.get(`${PREFIX}/status?job_id=${jobId}`)).body, {
    status: 'rollback_failed',
    rollback_available: true,
    rollback: { retry_safe: true },
  });
  await running(app, [NAME]);
  t.match(await stack.data(), { engine: 'postgres' }, 'it goes on');
  await unlock();
  t.equal(stack.source(), source, 'what cannot be checked is not replaced');
  const { status, body, text } = await undo(jobId);
  t.equal(status, 200, text);
  t.match(body, {
    status: 'rolled_back',
    rollback_available: false,
    rollback: { sqlite_preserved: true, service_restarted: true, restored_config: path.join(backup, 'config.xml') },
  });
  await running(app, [NAME]);
  t.same(await stack.data(), before);
  t.equal(stack.source(), source);
  t.equal(await settingsText(), settings);
  t.match(await readFile(path.join(backup, 'config.xml.before-rollback'), 'utf8'), /PostgresMainDb/);
  t.match(await block(), { postgres_enabled: false });
  t.same(await listed(), LISTED, 'the list of databases is as before');
  t.equal((await undo(jobId)).status, 400, 'once');
  t.same(await databases('sonarr-%'), ['sonarr-log', 'sonarr-main'], 'PostgreSQL is left as it is');
});

t.test('a later migration replaces what an earlier one has set aside', async t => {
  const [first] = await databases('prev_%');
  const before = await stack.data();
  const rehearsal = await begin(app, 'rehearsal');
  t.match(await ended(app, rehearsal), { status: 'completed' });
  jobId = await begin(app, 'cutover', { include_logs: true });
  const job = await ended(app, jobId);
  t.match(job, { status: 'completed', error: null, rehearsal_job_id: rehearsal, result: { warnings: [] } });
  t.same(Object.keys(job.result.imports), ['main', 'log']);
  const kept = await databases('prev_%');
  t.notOk(kept.includes(first), 'what was set aside first is gone');
  t.same(kept, [...job.result.preserved_databases].sort());
  t.same(await stack.data(), { ...before, engine: 'postgres' });
  t.match((await app.get(`${PREFIX}/preflight?process_name=${NAME}`)).body, { ready: false, postgres_enabled: true });
});

t.test('no answer or log has the password', async t => {
  const jobs = path.join(stack.configDir, 'arr-postgres-migration', 'jobs');
  const files = await Promise.all((await readdir(jobs)).map(name => readFile(path.join(jobs, name), 'utf8')));
  t.equal(files.length, 3);
  for (const text of [...files, ...(await ownLog(app))]) t.notMatch(text, PASSWORD);
});

t.test('another service with the same name is left alone', async t => {
  await app.stop();
  const file = path.join(stack.configDir, 'stackwarden.json');
  const written = JSON.parse(await readFile(file, 'utf8'));
  const { Default: moved } = written.sonarr.instances;
  const config = { ...written, sonarr: { instances: { Other: { ...moved, enabled: false } } } };
  app = await startStack(t, { ...stack, config }, ['PostgreSQL']);
  const { status, body } = await undo(jobId);
  t.equal(status, 400);
  t.match(body.detail, /^Sonarr is not the service that was moved; name the one at sonarr\.Default so$/);
  t.match((await app.get(`${PREFIX}/status?job_id=${jobId}`)).body, { status: 'completed', rollback_available: true });
  t.match(await block(), { postgres_enabled: true });
});

t.test('a service that was stopped by hand stays stopped when it is rolled back', async t => {
  await app.stop();
  const written = JSON.parse(await readFile(path.join(stack.configDir, 'stackwarden.json'), 'utf8'));
  const { Other: moved } = written.sonarr.instances;
  const config = { ...written, sonarr: { instances: { Default: { ...moved, enabled: true } } } };
  app = await startStack(t, { ...stack, config }, ['PostgreSQL']);
  t.equal((await app.post('/process/stop-service', { process_name: NAME })).status, 200);
  const undone = undo(jobId);
  const state = async () => (await app.get(`${PREFIX}/status?job_id=${jobId}`)).body.status;
  await until(async () => (await state()) === 'rolled_back', { intervalMs: 0 });
  t.match(await ended(app, await begin(app, 'rehearsal')), { status: 'completed' }, 'what is over is in no way');
  const { status, body, text } = await undone;
  t.equal(status, 200, text);
  t.match(body, { status: 'rolled_back', rollback: { service_restarted: false } });
  t.match((await app.get(`/process/service-status?process_name=${NAME}`)).body, { status: 'stopped' });
});
