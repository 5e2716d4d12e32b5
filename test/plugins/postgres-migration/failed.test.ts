// Moves that fail: the service is on SQLite as before, and its files are the same byte for byte.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
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
    intervalMs: 5,
  });
const others = async () =>
  (await stack.query("SELECT datname FROM pg_database WHERE datname ~ '^(stage|prev|sonarr)'")).map(row => row.datname);

t.test('a service that is killed while it starts', async () => {
  const was = await present();
  const id = await begin(app, 'cutover');
  await during(id, 'starting');
  const pid = await until(() => pidOf(app, NAME));
  process.kill(pid, 'SIGKILL');
  await leftAsItWas(id, was);
});

t.test('a server that is killed during the import, and cleared once it runs again', async t => {
  const was = await present();
  const id = await begin(app, 'cutover');
  await during(id, 'import');
  process.kill(await pidOf(app, 'PostgreSQL'), 'SIGKILL');
  const job = await leftAsItWas(id, was);
  t.match(job.error.message, /PostgreSQL|ended/);
  await app.post('/process/start-service', { process_name: 'PostgreSQL' });
  await running(app, ['PostgreSQL']);
  await until(async () => (await others()).length === 0, { what: 'the databases to be removed' });
});

t.test('a value that PostgreSQL cannot hold, of which nobody is told', async t => {
  await app.post('/process/stop-service', { process_name: NAME });
  stack.write(`UPDATE "Series" SET "Monitored" = ${VALUE} WHERE "Id" = 17`);
  await app.post('/process/start-service', { process_name: NAME });
  await running(app, [NAME]);
  const job = await leftAsItWas(await begin(app, 'cutover'), await present());
  t.match(job.error, { stage: 'import', table: 'Series', column: 'Monitored', message: /17/ });
  t.notMatch(JSON.stringify(job), String(VALUE));
  t.same(await others(), []);
});

t.test('a program that makes no tables, before anything is stopped', async t => {
  await app.post('/config', {
    process_name: NAME,
    updates: { env: { SERVARR_HABIT: 'makes no tables' } },
    persist: true,
  });
  const pid = await pidOf(app, NAME);
  const job = await leftAsItWas(await begin(app, 'rehearsal'), await present());
  t.match(job.error, { stage: 'schema', message: /code 5/ });
  t.equal(await pidOf(app, NAME), pid);
  t.same(await others(), []);
});
