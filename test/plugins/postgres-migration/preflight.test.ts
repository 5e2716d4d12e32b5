// Obstacles to a migration, and that the check leaves no trace. The service is stopped.
import { spawnSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { TestHost } from '../../support/host.ts';
import {
  type Body,
  ended,
  makeStack,
  NAME,
  PREFIX,
  preflight,
  request,
  type Stack,
  startStack,
} from '../../support/postgres-migration.ts';

let stack: Stack;
let app: TestHost;

t.before(async () => {
  stack = await makeStack(t);
  app = await startStack(t, stack);
  await app.post('/process/stop-service', { process_name: NAME });
});

async function found(id: string): Promise<Body> {
  const report = await preflight(app);
  const check = report.checks.find((one: Body) => one.id === id);
  if (check?.status === 'fail') t.equal(report.ready, false);
  return check;
}

const change = (updates: Record<string, unknown>) =>
  app.post('/config', { process_name: NAME, updates, persist: true });
const file = (name: string) => path.join(stack.home, name);

t.test('the check of a stopped service leaves no trace', async t => {
  const before = (await readdir(stack.home)).sort();
  const source = stack.source();
  const report = await preflight(app);
  t.match(report, { ready: true, running: false });
  t.equal(report.checks.find(({ id }: Body) => id === 'sqlite_main').status, 'pass');
  t.same((await readdir(stack.home)).sort(), before, 'no file beside the database');
  t.equal(stack.source(), source);
});

t.test('missing and damaged databases are obstacles', async t => {
  stack.write('PRAGMA foreign_keys = OFF; INSERT INTO "Episodes" ("SeriesId", "Title") VALUES (99999, \'lost\')');
  t.match(await found('sqlite_main'), { status: 'fail', foreign_key_violations: 1 });
  stack.write('DELETE FROM "Episodes" WHERE "SeriesId" = 99999');
  t.match(await found('sqlite_main'), { status: 'pass' });
  await rename(file('sonarr.db'), file('away'));
  t.match(await found('sqlite_main'), { status: 'fail', message: /does not exist/ });
  await writeFile(file('sonarr.db'), 'this is no database, whatever its name says, and long enough to be looked at');
  t.match(await found('sqlite_main'), { status: 'fail' });
  await rename(file('away'), file('sonarr.db'));
  await rename(file('logs.db'), file('away'));
  t.match(await found('sqlite_log'), { status: 'warn' });
  await rename(file('away'), file('logs.db'));
  await rename(file('sonarr.db'), file('away'));
  await symlink(file('away'), file('sonarr.db'));
  t.match(await found('sqlite_main'), { status: 'fail', message: /is a link, .*; put the database itself/ });
  await rename(file('away'), file('sonarr.db'));
});

t.test('a transaction that was cut off is an obstacle until the service has undone it', async t => {
  const cut = `const db = new (require('better-sqlite3'))(${JSON.stringify(file('sonarr.db'))})
    db.pragma('journal_mode = DELETE')
    db.pragma('cache_size = 1')
    db.exec('BEGIN; CREATE TABLE cut (text TEXT)')
    db.exec('INSERT INTO cut SELECT hex(randomblob(5000)) FROM "Episodes" LIMIT 20')
    process.kill(process.pid, 'SIGKILL')`;
  t.equal(spawnSync(process.execPath, ['-e', cut]).signal, 'SIGKILL');
  t.match(await found('sqlite_main'), {
    status: 'fail',
    message: /part of a transaction that was cut off; start the service/,
  });
  // As any program does that opens it.
  t.throws(() => stack.write('SELECT count(*) FROM cut'), /no such table/);
  t.match(await found('sqlite_main'), { status: 'pass' });
});

t.test('logs that are to be moved too', async t => {
  const start = () => app.post(`${PREFIX}/start`, request('rehearsal', { include_logs: true }));
  await rename(file('logs.db'), file('away'));
  await symlink(file('away'), file('logs.db'));
  t.match(await found('sqlite_log'), { status: 'warn', message: /is a link/ });
  t.match(await start(), { status: 400, body: { detail: /these checks failed: sqlite_log$/ } });
  await rm(file('logs.db'));
  const { status, body, text } = await start();
  t.equal(status, 200, text);
  const job = await ended(app, body.job_id);
  t.match(job, { status: 'completed', error: null, include_logs: false }, 'there are none');
  await rename(file('away'), file('logs.db'));
});

t.test('unreadable and overridden settings are obstacles', async t => {
  const settings = await readFile(file('config.xml'), 'utf8');
  await writeFile(file('config.xml'), '<Config><Port>');
  t.match(await found('service_config'), { status: 'fail' });
  await writeFile(file('config.xml'), settings);
  await change({ env: { Sonarr__Postgres__Host: 'elsewhere' } });
  t.match(await found('config_override'), { status: 'fail', keys: ['Sonarr__Postgres__Host'] });
  await change({ env: {} });
  await change({ command: ['/nowhere/Sonarr', `--data=${stack.home}`] });
  t.match(await found('runtime'), { status: 'fail', message: /\/nowhere\/Sonarr/ });
  await change({ command: [process.execPath, '-e', '0', `--data=${stack.home}`] });
});

t.test('invalid names of databases are obstacles', async t => {
  await change({ postgres_main_db: 'x'.repeat(64) });
  t.match(await found('target_reset'), { status: 'fail', message: /longer than 63/ });
  await change({ postgres_main_db: 'postgres' });
  t.match(await found('target_reset'), { status: 'fail', message: /belongs to PostgreSQL/ });
  await change({ postgres_main_db: 'one', postgres_log_db: 'one' });
  t.match(await found('target_reset'), { status: 'fail', message: /same name/ });
  await change({ postgres_main_db: 'Name With "Quotes"', postgres_log_db: null });
  await stack.query('CREATE DATABASE "Name With ""Quotes"""');
  await stack.query('CREATE TABLE t AS SELECT generate_series(1, 3)', 'Name With "Quotes"');
  const check = await found('target_reset');
  t.match(check, { status: 'warn', targets: { main: { exists: true, table_count: 1 }, log: { exists: false } } });
  t.ok(check.targets.main.row_count > 0, 'rows that no statistics know of');
  await change({ postgres_main_db: null });
});

t.test('a database that another service uses is an obstacle', async t => {
  const home = path.join(stack.configDir, 'moved');
  await mkdir(home);
  await writeFile(path.join(home, 'config.xml'), '<Config><PostgresLogDb>their logs</PostgresLogDb></Config>');
  const moved = { enabled: false, process_name: 'Moved', port: 1, config_dir: home, command: ['true'] };
  const others = (more: object) =>
    app.post('/config', { updates: { sonarr: { instances: { Moved: { ...moved, ...more } } } }, persist: true });
  const belongs = { status: 'fail', message: /belongs to Moved; name another/ };
  t.equal((await others({ postgres_enabled: true })).status, 200);
  await change({ postgres_main_db: 'sonarr_moved_main' });
  t.match(await found('target_reset'), belongs, 'by its usual name');
  await change({ postgres_main_db: 'their logs' });
  t.match(await found('target_reset'), belongs, 'by its own settings');
  await others({ postgres_enabled: false });
  t.match(await found('target_reset'), { status: 'pass' }, 'one on SQLite uses none');
  await others({ postgres_main_db: 'their logs' });
  t.match(await found('target_reset'), belongs, 'but may name one');
  await others({ postgres_main_db: 'other' });
  await change({ postgres_main_db: null });
});

t.test('a migrated service and a stopped server are obstacles', async t => {
  await change({ postgres_enabled: true });
  t.match(await found('sqlite_mode'), { status: 'fail' });
  await change({ postgres_enabled: false });
  await app.post('/process/stop-service', { process_name: 'PostgreSQL' });
  t.match(await preflight(app), { ready: false, postgres: { targets: {}, role: null } });
  t.match(await found('postgres_enabled'), { status: 'fail' });
  t.match(await found('postgres_connection'), { status: 'fail', message: /start it/ });
  t.equal(await found('postgres_role'), undefined, 'what cannot be asked is left out');
});

t.test('job files that others may have made are ignored', async t => {
  const jobs = path.join(stack.configDir, 'arr-postgres-migration', 'jobs');
  await mkdir(jobs, { recursive: true, mode: 0o700 });
  const ids = ['a', 'b', 'c'].map(letter => letter.repeat(32));
  const [linked = '', foreign = '', broken = ''] = ids.map(id => path.join(jobs, `${id}.json`));
  await writeFile(path.join(stack.configDir, 'elsewhere'), '{}');
  await symlink('/etc/passwd', linked);
  await link(path.join(stack.configDir, 'elsewhere'), foreign);
  if (process.getuid?.() === 0) chownSync(foreign, 65_534, 65_534);
  await writeFile(broken, '{"job":');
  await app.stop();
  app = await startStack(t, stack, ['PostgreSQL']);
  for (const id of ids) t.equal((await app.get(`${PREFIX}/status?job_id=${id}`)).status, 404);
  const { job } = (await app.get(`${PREFIX}/latest?process_name=${NAME}`)).body;
  t.notOk(ids.includes(job?.job_id));
});
