// Services that find their database by variables: rehearsed, migrated and brought back, with no secret written to disk.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { type DatabaseApps, makeDatabaseApps, startDatabaseApps } from '../../support/database-apps.ts';
import type { TestHost } from '../../support/host.ts';
import { type Body, begin, ended, PASSWORD, PREFIX, preflight, running } from '../../support/postgres-migration.ts';
import { rounds } from '../../support/rounds.ts';

/** What is known about each service, and the counted rows. */
const WANTED: Readonly<Record<string, Body>> = {
  Bazarr: {
    target: 'bazarr',
    settings: ['service_config'],
    counts: { table_shows: 200, table_movies: 0, table_history: 200 },
    tables: 4,
  },
  Pulsarr: { target: 'pulsarr', settings: [], counts: { users: 200, notifications: 0 }, tables: 4 },
  'Seerr 4K': { target: 'seerr_4k', settings: [], counts: { user: 1, media: 200, media_request: 200 }, tables: 3 },
};

let apps: DatabaseApps;
let host: TestHost;
const about = (name: string) => ({ process_name: name, confirmation: `MIGRATE ${name}` });
const blockOf = async (name: string): Promise<Body> =>
  (await host.get(`/process?process_name=${encodeURIComponent(name)}`)).body.config;
const checkOf = async (name: string, id: string): Promise<Body> =>
  (await preflight(host, name)).checks.find((check: Body) => check.id === id);

/** Starts a migration of all these services at once; they run one after the other. */
async function each(names: readonly string[], mode: string, look: (name: string, job: Body) => Promise<void>) {
  const jobs: { readonly name: string; readonly id: string }[] = [];
  for (const name of names) jobs.push({ name, id: await begin(host, mode, about(name)) });
  for (const { name, id } of jobs) await look(name, await ended(host, id));
}

t.before(async () => {
  apps = await makeDatabaseApps(t);
  host = await startDatabaseApps(t, apps);
});

t.test('files, names and settings of the services are found', async t => {
  const { facts } = (await host.get('/host/plugins')).body;
  t.same(facts.postgres_migration_service_keys, ['bazarr', 'pulsarr', 'seerr']);
  for (const name of apps.names) {
    const report = await preflight(host, name);
    const { target, settings } = WANTED[name];
    t.match(report, {
      ready: true,
      supports_log_migration: false,
      sqlite: { main: { exists: true, quick_check: 'ok' } },
      postgres: { main_database: target, log_database: null },
    });
    const ids = report.checks.map(({ id }: Body) => id);
    t.same(
      ids.filter((id: string) => ['service_config', 'sqlite_log'].includes(id)),
      settings,
    );
  }
});

t.test('variables that would override the migration are named', async t => {
  const change = (name: string, env: unknown) =>
    host.post('/config', { process_name: name, updates: { env }, persist: true });
  const { env } = await blockOf('Pulsarr');
  await change('Bazarr', { POSTGRES_ENABLED: 'false' });
  await change('Pulsarr', { ...env, dbConnectionString: 'postgres://elsewhere' });
  t.match(await checkOf('Bazarr', 'config_override'), { status: 'fail', keys: ['POSTGRES_ENABLED'] });
  t.match(await checkOf('Pulsarr', 'config_override'), { status: 'fail', keys: ['dbConnectionString'] });
  await change('Bazarr', {});
  await change('Pulsarr', env);
});

t.test('tables of another program version get no rows', async t => {
  apps.write('Bazarr', "UPDATE alembic_version SET version_num = 'an-older-one'");
  const id = await begin(host, 'rehearsal', about('Bazarr'));
  t.match(await ended(host, id), {
    status: 'failed_rolled_back',
    error: { stage: 'schema', message: /start the service once/ },
  });
  apps.write('Bazarr', "UPDATE alembic_version SET version_num = 'dc09994b7e65'");
});

t.test('running services are rehearsed', async t => {
  const names = apps.names.slice(0, rounds(1));
  const before = new Map<string, Body>();
  for (const name of names) before.set(name, await apps.data(name));
  await each(names, 'rehearsal', async (name, job) => {
    const { counts, tables } = WANTED[name];
    t.equal(job.status, 'completed', JSON.stringify(job.error));
    t.match(job.result, { validated: true, key_row_counts: counts, imports: { main: { tables } } });
    t.same(await apps.data(name), before.get(name));
    t.match(await blockOf(name), { postgres_enabled: false });
  });
});

t.test('the services are migrated and brought back', async t => {
  const before = new Map<string, Body>();
  for (const name of apps.names) before.set(name, { data: await apps.data(name), block: await blockOf(name) });
  const moved: Body[] = [];
  await each(apps.names, 'cutover', async (name, job) => {
    t.equal(job.status, 'completed', JSON.stringify(job.error));
    const { target } = WANTED[name];
    const { data, block } = before.get(name);
    t.match(await blockOf(name), { ...block, postgres_enabled: true, postgres_database: target });
    t.same(await apps.data(name), { ...data, engine: 'postgres' });
    t.same((await readdir(job.backup_dir)).sort(), ['sqlite-main.db', 'stackwarden.json']);
    t.equal(job.app_config_backup, null);
    moved.push({ name, id: job.job_id, source: apps.source(name) });
  });
  for (const { name, id, source } of moved.slice(0, rounds(1))) {
    const asked = { job_id: id, confirmation: `ROLLBACK ${name}` };
    const { body, text } = await host.post(`${PREFIX}/rollback`, asked);
    t.equal(body.status, 'rolled_back', text);
    t.equal(apps.source(name), source);
    await running(host, [name]);
    t.same(await apps.data(name), before.get(name).data);
    t.match(await blockOf(name), { postgres_enabled: false });
  }
  const jobs = path.join(apps.configDir, 'arr-postgres-migration/jobs');
  for (const file of await readdir(jobs)) t.notMatch(await readFile(path.join(jobs, file), 'utf8'), PASSWORD);
});
