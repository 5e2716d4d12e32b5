// Migrations that fail, also by a killed program: the service runs on SQLite as before, with byte-identical files.
import { chmod, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { JobRecord } from '../../../plugins/postgres-migration/job.ts';
import type { TestHost } from '../../support/host.ts';
import { pidOf } from '../../support/kids.ts';
import {
  begin,
  ended,
  makeStack,
  NAME,
  PREFIX,
  running,
  type Stack,
  startStack,
  toldOf,
} from '../../support/postgres-migration.ts';
import { randomNumbers, rounds } from '../../support/rounds.ts';
import { until } from '../../support/until.ts';

const VALUE = 7_345_678;
let stack: Stack;
let app: TestHost;

t.before(async () => {
  stack = await makeStack(t);
  app = await startStack(t, stack);
});

async function leftAsItWas(jobId: string, { before, source, settings }: Awaited<ReturnType<typeof present>>) {
  const job = await ended(app, jobId);
  t.equal(job.status, 'failed_rolled_back', JSON.stringify(job.error));
  t.equal(job.rollback_available, false);
  const told = { type: 'migration.failed', processName: NAME, jobId, mode: job.mode, status: 'failed_rolled_back' };
  t.same(await toldOf(app, jobId), [{ ...told, message: job.error.message }]);
  await running(app, [NAME]);
  t.same(await stack.data(), before);
  t.equal(stack.source(), source);
  t.equal(await readFile(path.join(stack.home, 'config.xml'), 'utf8'), settings);
  t.match((await app.get(`/process?process_name=${NAME}`)).body.config, { postgres_enabled: false });
  return job;
}

const present = async () => ({
  before: await stack.data(),
  source: stack.source(),
  settings: await readFile(path.join(stack.home, 'config.xml'), 'utf8'),
});
const during = (jobId: string, stage: string) =>
  until(async () => (await app.get(`${PREFIX}/status?job_id=${jobId}`)).body.progress?.stage === stage, {
    what: `the stage ${stage}`,
    timeoutMs: 240_000,
    intervalMs: 20,
  });
const others = async () =>
  (await stack.query("SELECT datname FROM pg_database WHERE datname ~ '^(stage|prev|sonarr)'")).map(row => row.datname);

/** Repeats a request while the ended job still holds its service. */
const accepted = (route: string, body: Record<string, unknown>) =>
  until(async () => (await app.post(route, { process_name: NAME, ...body })).status === 200, {
    what: `${route} to be done`,
  });
const set = (updates: Record<string, unknown>) => accepted('/config', { updates, persist: true });

/** The pid of the transferring program, once it waits at this table. */
async function held(table: string): Promise<number> {
  const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'COPY "${table}" %'`;
  await until(async () => (await stack.query(waits)).length > 0, {
    what: `the import of ${table}`,
    timeoutMs: 240_000,
  });
  const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
  for (const pid of children.trim().split(' '))
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('transfer-worker'))
      return Number(pid);
  throw new Error('nothing transfers');
}

t.test('a migration fails when one of its programs is killed', async t => {
  const was = await present();
  const tables = stack.tables();
  const random = randomNumbers(t);
  for (let round = 0; round < rounds(3); round += 1) {
    const table = tables[random(tables.length)] ?? '';
    const kind = ['transfer', 'server', 'service'][round % 3];
    const mode = kind === 'service' || random(2) === 0 ? 'cutover' : 'rehearsal';
    t.comment(`${round}: ${kind}, ${mode}, ${table}`);
    await set({ env: { SERVARR_HABIT: kind === 'service' ? '' : `holds ${table}` } });
    const id = await begin(app, mode);
    if (kind === 'service') await during(id, 'starting');
    const pid = kind === 'service' ? await until(() => pidOf(app, NAME)) : await held(table);
    process.kill(kind === 'server' ? await pidOf(app, 'PostgreSQL') : pid, 'SIGKILL');
    const { error } = await leftAsItWas(id, was);
    if (kind === 'transfer') t.match(error, { stage: 'import', code: 'transfer.ended', message: /SIGKILL.*try again/ });
    if (kind === 'server') {
      t.match(error, { stage: 'import', message: /PostgreSQL|ended/ });
      await accepted('/process/start-service', { process_name: 'PostgreSQL' });
      await running(app, ['PostgreSQL']);
    }
    await until(async () => (await others()).length === 0, { what: 'the databases to be removed' });
    t.same(await readdir(path.join(stack.configDir, 'arr-postgres-migration', 'work')), []);
  }
  await set({ env: {} });
  const job = await ended(app, await begin(app, 'rehearsal'));
  t.match(job, { status: 'completed', result: { validated: true } }, 'none of it stands in the way of the next');
});

/** Makes it impossible to start the service until the returned function is called. */
async function close(t: Test): Promise<() => Promise<void>> {
  const open = () => chmod(stack.home, 0o755);
  t.teardown(open);
  await chmod(stack.home, 0o000);
  return open;
}

async function rolledBack(t: Test, id: string): Promise<void> {
  const { status, text } = await app.post(`${PREFIX}/rollback`, { job_id: id, confirmation: `ROLLBACK ${NAME}` });
  t.equal(status, 200, text);
  await running(app, [NAME]);
}

t.test('a migration whose service cannot be brought back leaves no databases', async t => {
  const was = await present();
  const [table = ''] = stack.tables();
  await set({ env: { SERVARR_HABIT: `holds ${table}` } });
  const id = await begin(app, 'cutover');
  const pid = await held(table);
  const open = await close(t);
  process.kill(pid, 'SIGKILL');
  const job = await ended(app, id);
  t.match(job, { status: 'failed', rollback_available: true, error: { code: 'transfer.ended' } });
  t.same(await others(), []);
  await open();
  await set({ env: {} });
  await rolledBack(t, id);
  t.same(await present(), was);
});

t.test('a value that PostgreSQL cannot hold fails a migration, and is not shown', async t => {
  await accepted('/process/stop-service', {});
  stack.write(`UPDATE "Series" SET "Monitored" = ${VALUE} WHERE "Id" = 17`);
  await accepted('/process/start-service', {});
  await running(app, [NAME]);
  const was = await present();
  const job = await leftAsItWas(await begin(app, 'cutover'), was);
  t.match(job.error, { stage: 'import', table: 'Series', column: 'Monitored', message: /17/ });
  t.notMatch(JSON.stringify(job), String(VALUE));
  t.same(await others(), []);
});

t.test('a migration fails when another program keeps rows in the write-ahead log', async t => {
  const db = new Database(path.join(stack.home, 'sonarr.db'));
  t.teardown(() => db.close());
  const reader = new Database(db.name, { readonly: true });
  t.teardown(() => reader.close());
  db.exec('UPDATE "Series" SET "Monitored" = 1 WHERE "Id" = 17');
  db.pragma('wal_checkpoint(TRUNCATE)');
  reader.exec('BEGIN; SELECT count(*) FROM "Series"');
  db.exec(`UPDATE "Series" SET "Title" = 'The last words' WHERE "Id" = 17`);
  db.close();
  const job = await leftAsItWas(await begin(app, 'cutover'), await present());
  t.match(job.error, {
    stage: 'backup',
    message: /sonarr\.db is read by another program, .*; end that, then try again$/,
  });
  t.same(await others(), []);
});

t.test('a program that creates no tables fails a rehearsal before anything is stopped', async t => {
  await set({ env: { SERVARR_HABIT: 'makes no tables' } });
  const pid = await pidOf(app, NAME);
  const job = await leftAsItWas(await begin(app, 'rehearsal'), await present());
  t.match(job.error, { stage: 'schema', message: /code 5/ });
  t.equal(await pidOf(app, NAME), pid);
  t.same(await others(), []);
});

t.test('databases whose removal was interrupted are removed', async t => {
  await set({ env: {} });
  await accepted('/process/restart-service', {});
  await running(app, [NAME]);
  t.same(await others(), []);
  await accepted('/process/stop-service', {});
  stack.write('UPDATE "Series" SET "Monitored" = 1 WHERE "Id" = 17');
  await accepted('/process/start-service', {});
  await running(app, [NAME]);
  const before = await stack.data();
  const interrupt = async (name: string) => {
    await stack.query(`CREATE DATABASE "${name}"`);
    await stack.query(`UPDATE pg_database SET datconnlimit = -2 WHERE datname = '${name}'`);
  };
  await interrupt('sonarr-main');
  const job = await ended(app, await begin(app, 'cutover'));
  t.equal(job.status, 'completed', JSON.stringify(job.error));
  await running(app, [NAME]);
  t.same(await stack.data(), { ...before, engine: 'postgres' });
  t.same((await others()).sort(), ['sonarr-log', 'sonarr-main'], 'it is not set aside');
  await rolledBack(t, job.job_id);
});

t.test('what a promotion has set aside is known when its service cannot be brought back', async t => {
  const id = await begin(app, 'cutover');
  await during(id, 'starting');
  const pid = await until(() => pidOf(app, NAME));
  await close(t);
  process.kill(pid, 'SIGKILL');
  const job = await ended(app, id);
  t.match(job, { status: 'failed', rollback_available: true, rollback_checkpoint: /^service_/ });
  const file = path.join(stack.configDir, 'arr-postgres-migration', 'jobs', `${id}.json`);
  const { preserved } = await until(
    async () => {
      const record: JobRecord = JSON.parse(await readFile(file, 'utf8'));
      return record.job.status === 'failed' ? record.work : undefined;
    },
    { what: 'the end of the job on disk' },
  );
  const aside = (await others()).filter(name => name.startsWith('prev_'));
  t.same(preserved.map(({ name }) => name).sort(), aside.sort());
  t.ok(aside.length > 0);
});
