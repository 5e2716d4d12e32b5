// The web frontend as a managed process: its entry, its preferences, and the addresses that it is launched with.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, start } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const skip = ['frontend', 'process', 'config'].some(
  name => !existsSync(new URL(`../../../plugins/${name}/index.ts`, import.meta.url)),
);

t.test('its entry and its preferences are there while its plugin is', { skip }, async t => {
  const app = await startHost({ plugins: ['config', 'process', 'frontend'], config: {} });
  t.teardown(() => app.stop());
  const { dumb } = (await app.get('/config')).body;
  t.match(dumb, {
    frontend: { enabled: false, process_name: 'DUMB Frontend', host: '0.0.0.0', port: 3005, origins: [], env: {} },
    ui: { log_timestamp: {}, sidebar: {} },
  });
  const ui = { sidebar: { compact_mode: true, service_order: ['a'] } };
  t.equal((await app.post('/config', { updates: { dumb: { ui } } })).status, 200);
  t.match((await app.get('/config')).body.dumb.ui, ui);
  t.match(await app.post('/config', { process_name: 'DUMB Frontend', updates: { port: 0 } }), {
    status: 400,
    body: { detail: /dumb\.frontend\.port/ },
  });
});

t.test('without its plugin the host knows the allowed origins only', { skip }, async t => {
  const app = await startHost({ plugins: ['config', 'process'], config: {} });
  t.teardown(() => app.stop());
  const { dumb } = (await app.get('/config')).body;
  t.same([dumb.frontend, dumb.ui], [{ origins: [] }, undefined]);
});

t.test('it is told where the service and the proxy are, and its own variables stay', { skip }, async t => {
  const dir = testDir(t, { log: {} });
  const logFile = path.join(dir, 'log', 'frontend.log');
  const app = await startHost({
    plugins: ['config', 'process', 'frontend'],
    config: {
      dumb: {
        log_dir: path.join(dir, 'log'),
        api_service: { host: '::', port: 8_123 },
        frontend: kid('DUMB Frontend', ['show-environment'], {
          config_dir: dir,
          log_file: logFile,
          suppress_logging: false,
          env: { DMB_TRAEFIK_URL: 'http://proxy' },
        }),
      },
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'DUMB Frontend')).status, 200);
  const line = await until(async () => /environment (\{.*\})/.exec(await readFile(logFile, 'utf8'))?.[1]);
  t.match(JSON.parse(line).env, {
    HOST: '0.0.0.0',
    DUMB_API_URL: 'http://127.0.0.1:8123',
    DMB_API_URL: 'http://127.0.0.1:8123',
    DUMB_TRAEFIK_URL: 'http://127.0.0.1:18080',
    DMB_TRAEFIK_URL: 'http://proxy',
  });
});
