// A build without the plugin of PostgreSQL has no client for it, and SQLite keeps the history and says so.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { buildInto } from '../../support/build.ts';
import { testDir } from '../../support/directory.ts';
import { ACTIVATION, type Body, CHOSEN } from '../../support/metrics-postgres.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

t.test('a build without the plugin keeps the history in SQLite', async t => {
  const dir = testDir(t, { build: {}, config: {} });
  const outDir = path.join(dir, 'build');
  await buildInto(outDir, ['config', 'process', 'metrics-history']);
  const { dependencies } = JSON.parse(await readFile(path.join(outDir, 'package.json'), 'utf8'));
  t.notOk('pg' in dependencies);
  const metrics = { ...CHOSEN, history_interval_sec: 0.5 };
  const port = await writeConfig(path.join(dir, 'config'), { dumb: { metrics } });
  const args = ['start', '--config-dir', path.join(dir, 'config')];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const host = spawn(path.join(outDir, 'core/cli/main.js'), args, { cwd: outDir, env, stdio: 'ignore' });
  const ended = new Promise(resolve => host.once('exit', resolve));
  t.teardown(async () => {
    host.kill('SIGTERM');
    await ended;
  });
  const get = async (route: string): Promise<Body> => (await fetch(`http://127.0.0.1:${port}${route}`)).json();
  const found = await until(async () => {
    const body = await get('/metrics/history/storage?probe_postgresql=true');
    return body.sqlite.samples > 1 && body;
  });
  t.match(found, {
    configured_provider: 'postgresql',
    active_provider: 'sqlite',
    fallback_active: true,
    last_error: 'PostgreSQL is not available in this build; the history is kept in SQLite',
    postgresql: null,
    sync: null,
  });
  t.ok((await get('/metrics/history')).items.length > 1);
  t.equal((await fetch(`http://127.0.0.1:${port}${ACTIVATION}`, { method: 'POST' })).status, 404);
  const flags = await get('/process/capabilities');
  t.match(flags, { metrics_history_storage: true });
  t.notOk('metrics_history_hot_activation' in flags);
});
