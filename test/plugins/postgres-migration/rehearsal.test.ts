// A rehearsal as the frontend requests it: the checks before, its progress, what is refused meanwhile, and that the
// service goes on undisturbed.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { TestHost } from '../../support/host.ts';
import { pidOf } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import {
  type Body,
  begin,
  ended,
  makeStack,
  NAME,
  OTHER,
  PASSWORD,
  PREFIX,
  preflight,
  request,
  type Stack,
  startStack,
} from '../../support/postgres-migration.ts';
import { until } from '../../support/until.ts';

const OTHER_PREFIX = '/process/arr-postgres-migration';
const CHECKS = [
  'service_enabled',
  'sqlite_mode',
  'migration_active',
  'sqlite_main',
  'sqlite_log',
  'service_config',
  'config_override',
  'service_version',
  'postgres_enabled',
  'postgres_connection',
  'postgres_role',
  'postgres_encoding',
  'target_reset',
  'backup_space',
  'postgres_space',
  'runtime',
];

let stack: Stack;
let app: TestHost;
const told: string[] = [];
const latest = async (prefix = PREFIX) => (await app.get(`${prefix}/latest?process_name=${NAME}`)).body;
const databases = async () => (await stack.query('SELECT datname FROM pg_database ORDER BY 1')).map(row => row.datname);
const filesBelow = async () => (await readdir(stack.home, { recursive: true })).sort();

t.before(async () => {
  stack = await makeStack(t, { habit: 'writes', isTwo: true });
  app = await startStack(t, stack);
});

t.test('the checks are listed in order, and write nothing', async t => {
  const files = await filesBelow();
  const [report, other, none] = await Promise.all([
    preflight(app),
    app.get(`${OTHER_PREFIX}/preflight?process_name=${NAME}`),
    latest(),
  ]);
  told.push(JSON.stringify(report));
  t.same(none, { job: null });
  t.same(
    report.checks.map(({ id }: Body) => id),
    CHECKS,
  );
  t.same(
    report.checks.filter(({ status }: Body) => status === 'fail'),
    [],
  );
  t.match(report, {
    ready: true,
    running: true,
    postgres_enabled: false,
    confirmation_text: `MIGRATE ${NAME}`,
    supports_log_migration: true,
    sqlite: { main: { exists: true, quick_check: 'ok', display_size: /KiB$/ }, log: { exists: true } },
    postgres: { main_database: 'sonarr-main', log_database: 'sonarr-log', role: { superuser: true } },
    backup_root: path.join(stack.configDir, 'arr-postgres-migration'),
    estimate: null,
  });
  t.same(other.body.sqlite, report.sqlite, 'the same under both prefixes');
  t.same(await filesBelow(), files);
  t.notOk((await readdir(stack.configDir)).includes('arr-postgres-migration'));
});

t.test('invalid requests are refused', async t => {
  const refused = async (body: unknown, status: number, words: RegExp) => {
    const answer = await app.post(`${PREFIX}/start`, body);
    t.equal(answer.status, status, answer.text);
    t.match(answer.body.detail, words);
  };
  await refused(request('rehearsal', { more: 1 }), 422, /more/);
  await refused(request('rehearsal', { acknowledge_backup: 'true' }), 422, /acknowledge_backup/);
  await refused(request('both'), 400, /rehearsal or cutover/);
  await refused(request('rehearsal', { confirmation: `migrate ${NAME}` }), 400, /MIGRATE Sonarr/);
  await refused(request('rehearsal', { acknowledge_target_reset: false }), 400, /acknowledge_target_reset/);
  await refused(request('rehearsal', { process_name: 'Nobody', confirmation: 'MIGRATE Nobody' }), 404, /not found/);
  const server = request('rehearsal', { process_name: 'PostgreSQL', confirmation: 'MIGRATE PostgreSQL' });
  await refused(server, 400, /no migration.*sonarr/);
  t.equal((await app.get(`${PREFIX}/preflight?process_name=PostgreSQL`)).status, 400);
  t.equal((await app.get(`${PREFIX}/preflight?process_name=Nobody`)).status, 404);
  t.equal((await app.get(`${PREFIX}/preflight`)).status, 422);
  t.equal((await app.get(`${PREFIX}/status?job_id=../../etc/passwd`)).status, 404);
});

t.test('a running service is rehearsed, and held meanwhile', async t => {
  const before = { source: await pidOf(app, NAME), databases: await databases(), data: await stack.data() };
  const settings = await readFile(path.join(stack.home, 'config.xml'), 'utf8');
  const id = await begin(app, 'rehearsal', { include_logs: true });
  const file = path.join(stack.configDir, 'arr-postgres-migration', 'jobs', `${id}.json`);
  t.equal(JSON.parse(await readFile(file, 'utf8')).job.job_id, id, 'on disk before the answer');

  const other = await begin(app, 'rehearsal', { process_name: OTHER, confirmation: `MIGRATE ${OTHER}` });
  t.match((await app.get(`${PREFIX}/status?job_id=${other}`)).body, { status: 'queued' }, 'one after the other');
  t.equal((await app.post('/process/stop-service', { process_name: OTHER })).status, 409, 'held while it waits');

  const updates = { updates: { sonarr: { instances: { Default: { stop_grace_seconds: 3 } } } } };
  const service = { service_name: NAME, updates: { Config: { LogLevel: 'debug' } } };
  const refusals = await Promise.all([
    app.post('/process/stop-service', { process_name: NAME }),
    app.post('/process/restart-service', { process_name: NAME }),
    app.post('/process/stop-service', { process_name: 'PostgreSQL' }),
    app.post('/config', updates),
    app.post('/config/service-config', service),
    app.post(`${PREFIX}/start`, request('cutover')),
  ]);
  for (const { status, text } of refusals) t.equal(status, 409, text);
  const during = await preflight(app);
  t.match(
    during.checks.find(({ id: check }: Body) => check === 'migration_active'),
    { status: 'fail', job_id: id },
  );

  const percents: number[] = [];
  await until(
    async () => {
      const { job } = await latest(OTHER_PREFIX);
      percents.push(job.progress?.percent ?? 0);
      return job.status === 'completed' || job.status.startsWith('failed');
    },
    { intervalMs: 100 },
  );
  const job = await ended(app, id);
  told.push(JSON.stringify(job), await readFile(file, 'utf8'));
  t.same(
    percents,
    [...percents].sort((a, b) => a - b),
    'percentages only grow',
  );
  t.match(job, {
    status: 'completed',
    error: null,
    rollback_available: false,
    result: { validated: true, cutover_performed: false, sqlite_runtime_restored: true },
  });
  t.match(job.result.key_row_counts, { Series: 300, Episodes: 300, EpisodeFiles: 300, History: 1 });
  t.match(job.result.imports, { main: { rows: 958, foreign_keys_validated: 1 }, log: { tables: 1 } });
  t.equal(await pidOf(app, NAME), before.source, 'the same process');
  t.same(await stack.data(), before.data);
  const second = await ended(app, other);
  t.match(second, {
    status: 'completed',
    instance_name: '4K',
    binding: { targets: { main: 'sonarr_4k_main', log: 'sonarr_4k_log' } },
  });
  t.ok(second.started_at >= job.finished_at);
  t.same(await databases(), before.databases);
  t.equal(await readFile(path.join(stack.home, 'config.xml'), 'utf8'), settings);
  t.same(await readdir(path.join(stack.configDir, 'arr-postgres-migration', 'work')), []);
  t.match(await preflight(app), { ready: true, estimate: { rows: 958 } });
  t.equal((await app.get(`${PREFIX}/status?job_id=${id.toUpperCase()}&process_name=${NAME}`)).status, 200);
  t.equal((await app.get(`${PREFIX}/status?job_id=${id}&process_name=Other`)).status, 404);
  const undo = await app.post(`${PREFIX}/rollback`, { job_id: id, confirmation: `ROLLBACK ${NAME}` });
  t.equal(undo.status, 400, 'a rehearsal has changed nothing');
});

t.test('flags and a list announce migrations, and no answer has the password', async t => {
  const flags = (await app.get('/process/capabilities')).body;
  for (const flag of ['postgres_migration', 'arr_postgres_migration'])
    for (const end of ['', '_rehearsal', '_rollback']) t.equal(flags[`${flag}${end}`], true, `${flag}${end}`);
  t.same((await app.get('/host/plugins')).body.facts.postgres_migration_service_keys, ['sonarr']);
  for (const text of [...told, ...(await ownLog(app))]) t.notMatch(text, PASSWORD);
});
