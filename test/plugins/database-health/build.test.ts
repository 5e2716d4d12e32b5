// Builds of chosen plugins: the compiled worker examines databases, and nothing remains of what was left out.
import { spawn } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { buildInto } from '../../support/build.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

t.test('a build without PostgreSQL examines SQLite databases', async t => {
  const dir = testDir(t, { build: {}, config: {}, films: {} });
  await chmod(dir, 0o755);
  const outDir = path.join(dir, 'build');
  await buildInto(outDir, ['config', 'process', 'services', 'database-health']);
  const { dependencies } = JSON.parse(await readFile(path.join(outDir, 'package.json'), 'utf8'));
  t.notOk('pg' in dependencies);
  t.ok('better-sqlite3' in dependencies);
  const films = path.join(dir, 'films');
  new Database(path.join(films, 'radarr.db')).exec('CREATE TABLE films (title TEXT)').close();
  await writeFile(path.join(films, 'radarr.txt'), 'database is locked\n');
  const port = await writeConfig(path.join(dir, 'config'), {
    radarr: {
      instances: {
        Default: { enabled: true, process_name: 'Films', config_dir: films, log_file: path.join(films, 'radarr.txt') },
        Server: { enabled: true, process_name: 'Served', config_dir: films, postgres_enabled: true },
      },
    },
    dumb: {
      metrics: {
        database_health: { enabled: true, services: { 'radarr:Default': { enabled: true, mode: 'enhanced' } } },
      },
    },
  });
  const args = ['start', '--config-dir', path.join(dir, 'config')];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const host = spawn(path.join(outDir, 'core/cli/main.js'), args, { cwd: outDir, env, stdio: 'ignore' });
  const ended = new Promise(resolve => host.once('exit', resolve));
  t.teardown(async () => {
    host.kill('SIGTERM');
    await ended;
  });
  const found = await until(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics/database-health?refresh=true`);
    const body = (await answer.json()) as { services: { collected_at: number | null }[] };
    return body.services[0]?.collected_at && body;
  });
  t.match(found, {
    supported_count: 1,
    services: [
      {
        process_name: 'Films',
        databases: [{ exists: true, page_count: 2 }, Object],
        log_signals: { locked: 1 },
        score: 45,
      },
    ],
  });
});

t.test('a host without the plugin has no routes or flags of it', async t => {
  const app = await startHost({ plugins: ['metrics', 'process', 'config'] });
  t.teardown(() => app.stop());
  t.equal((await app.get('/metrics/database-health')).status, 404);
  t.notOk((await app.get('/process/capabilities')).body.database_health_metrics);
  t.notOk('database_health' in (await app.get('/metrics')).body);
});
