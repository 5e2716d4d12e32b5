// A move that fails names the failed stage, SQLite stays in use, and no answer or log line has a credential.
import t, { type Test } from 'tap';
import type { TestHost } from '../../support/host.ts';
import {
  ACTIVATION,
  choose,
  directoryWith,
  line,
  query,
  startMetrics,
  storage,
  YESTERDAY,
} from '../../support/metrics-postgres.ts';
import { ownLog } from '../../support/own-log.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const SECRETS = /hunter2|secret_stranger|127\.0\.0\.1|keeper|SELECT|CREATE|INSERT/;

/** Expects a move to fail at this stage, without a credential in the answer or the log. */
async function failsDuring(t: Test, app: TestHost, stage: string): Promise<void> {
  const { status: code, text, body } = await app.post(ACTIVATION);
  t.equal(code, 503, stage);
  t.equal(
    body.detail,
    `PostgreSQL activation failed during ${stage}. SQLite remains active; check the service logs and retry.`,
  );
  // A move that fails before it reaches the server leaves the error to the task that writes there, which runs beside it.
  await until(async () => (await storage(app)).last_error !== null, { what: 'the error of the task' });
  const told = await storage(app);
  t.match(told, { active_provider: 'sqlite', fallback_active: true, last_error: String });
  t.notMatch(text + JSON.stringify(told), SECRETS);
  t.notMatch((await ownLog(app)).join('\n'), /hunter2|secret_stranger/);
  t.equal((await app.get('/metrics/history')).status, 200, 'SQLite answers');
}

t.test('a move fails without a block of the server', async t => {
  const app = await startMetrics(t, { plugins: ['metrics-postgres', 'config'] });
  await choose(app);
  await failsDuring(t, app, 'configuration');
});

t.test('a move fails when the server ends', async t => {
  const postgres = { process_name: 'PostgreSQL', command: ['false'], config_dir: '', port: await freePort() };
  const app = await startMetrics(t, { postgres: { ...postgres, password: 'hunter2-hidden' } });
  await choose(app);
  await failsDuring(t, app, 'startup');
});

t.test('a move fails when the server is never ready', async t => {
  const postgres = { process_name: 'PostgreSQL', command: ['sleep', '1000'], config_dir: '', port: await freePort() };
  // At this pace ten minutes are six seconds.
  const app = await startMetrics(t, { postgres: { ...postgres, password: 'hunter2-hidden' }, pace: 0.01 });
  await choose(app);
  await failsDuring(t, app, 'startup');
  t.match((await ownLog(app)).join('\n'), 'PostgreSQL was not activated: startup failed: PostgreSQL does not answer');
});

t.test('a move fails when another provider is saved meanwhile', async t => {
  const block = await postgresBlock(t);
  const late = { ...block, command: ['sh', '-c', 'sleep 2; exec "$@"', 'sh', ...block.command] };
  const app = await startMetrics(t, { postgres: late });
  await choose(app);
  const activation = app.post(ACTIVATION);
  const status = async () => (await app.get('/process/processes')).body.processes[0].status;
  await until(async () => (await status()) !== 'stopped', { what: 'the start of the server' });
  await choose(app, 'sqlite');
  const { status: code, body } = await activation;
  t.equal(code, 503);
  t.match(body.detail, 'failed during synchronization');
  t.match((await ownLog(app)).join('\n'), 'synchronization failed: PostgreSQL is not in use');
  t.equal((await app.post(ACTIVATION)).status, 400, 'it is over');
});

t.test('a move fails when the server refuses the user or the tables', async t => {
  const block = await postgresBlock(t);
  const app = await startMetrics(t, { postgres: { ...block, user: 'secret_stranger', password: 'hunter2-hidden' } });
  await choose(app);
  await failsDuring(t, app, 'database');
  await query(block, 'CREATE DATABASE dumb_metrics', 'postgres');
  await query(block, 'CREATE TABLE metrics_snapshots (nothing INTEGER)');
  await app.post('/config', { process_name: 'PostgreSQL', updates: { user: 'keeper' }, persist: true });
  await failsDuring(t, app, 'synchronization');
  await query(block, 'DROP TABLE metrics_snapshots');
  t.match((await app.post(ACTIVATION)).body, { status: 'active', postgres_reused: true });
});

t.test('a move fails when the database cannot hold every character', async t => {
  const block = await postgresBlock(t);
  const configDir = await directoryWith(t, [line(YESTERDAY).replace('"/data"', '"/mnt/Фильмы"')]);
  const app = await startMetrics(t, { postgres: block, configDir });
  await app.post('/process/start-service', { process_name: 'PostgreSQL' });
  const encoding = `ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`;
  await query(block, `CREATE DATABASE dumb_metrics ${encoding}`, 'postgres');
  await choose(app);
  await failsDuring(t, app, 'synchronization');
  t.match((await storage(app)).last_error, /it must have the encoding UTF8$/);
});
