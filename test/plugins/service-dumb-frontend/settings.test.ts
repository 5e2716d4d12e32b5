// The configuration of the web frontend: its block and its preferences.
import { existsSync } from 'node:fs';
import t from 'tap';
import { startHost } from '../../support/host.ts';

const skip = ['service-dumb-frontend', 'process', 'config'].some(
  name => !existsSync(new URL(`../../../plugins/${name}/index.ts`, import.meta.url)),
);

t.test('block and preferences exist while the plugin is loaded', { skip }, async t => {
  const app = await startHost({ plugins: ['config', 'process', 'service-dumb-frontend'], config: {} });
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

t.test('preferences of the wrong type', { skip }, async t => {
  const sidebar = { compact_mode: 7, quick_filter: 'running', own: 7 };
  const app = await startHost({
    plugins: ['config', 'process', 'health', 'service-dumb-frontend'],
    config: { dumb: { ui: { sidebar, own: 7 } } },
  });
  t.teardown(() => app.stop());
  const shown = async () => (await app.get('/config')).body.dumb.ui;
  t.same(await shown(), { log_timestamp: {}, sidebar: { quick_filter: 'running', own: 7 }, own: 7 });
  t.match((await app.get('/health')).body, { status: 'healthy', details: /dumb\.ui\.sidebar\.compact_mode/ });
  for (const [ui, member] of [
    [{ log_timestamp: { hourFormat: 24 } }, 'log_timestamp.hourFormat'],
    [{ sidebar: { service_order: 'a' } }, 'sidebar.service_order'],
    [{ sidebar: { service_shortcuts: [] } }, 'sidebar.service_shortcuts'],
    [{ sidebar: true }, 'sidebar'],
  ] as const) {
    const { status, body } = await app.post('/config', { updates: { dumb: { ui } } });
    t.equal(status, 400, member);
    t.match(body.detail, `dumb.ui.${member}: `);
  }
  const later = {
    log_timestamp: { dateOrder: 'YMD' },
    sidebar: { compact_mode: true, saved_views: [{ id: 'x' }], active_saved_view_id: null },
  };
  t.equal((await app.post('/config', { updates: { dumb: { ui: later } } })).status, 200);
  t.match(await shown(), later);
});

t.test('without the plugin the host has only the allowed origins', { skip }, async t => {
  const app = await startHost({ plugins: ['config', 'process'], config: {} });
  t.teardown(() => app.stop());
  const { dumb } = (await app.get('/config')).body;
  t.same([dumb.frontend, dumb.ui], [{ origins: [] }, undefined]);
});
