// The list of web interfaces, their route names, the switch, and the files that the reverse proxy gets.
import { existsSync } from 'node:fs';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { kid } from '../../support/kids.ts';

const isHere = existsSync(new URL('../../../plugins/service-ui/index.ts', import.meta.url));

t.test('web interfaces are listed with their routes', { skip: !isHere }, async t => {
  const app = await startHost({
    config: {
      plex: { port: 32_401, enabled: true },
      jellyfin: { enabled: false },
      authelia: { enabled: true, public_url: 'https://sso.example.org' },
      pgadmin: { enabled: true },
      postgres: { enabled: true },
      infinidysk: { enabled: true },
      sonarr: {
        instances: {
          Default: { enabled: true, process_name: 'Sonarr' },
          '4K': { enabled: true, process_name: 'Ultra / HD' },
          Twin: { enabled: true, process_name: 'sonarr', host: '0.0.0.0' },
        },
      },
      mine: kid('Mine', ['calm'], { enabled: true, port: 7_001, ui: true }),
      panel: kid('Panel', ['calm'], {
        enabled: true,
        port: 7_004,
        frontend_port: 7_005,
        ui: { port_key: 'frontend_port', path: '/admin' },
      }),
      quiet: kid('Quiet', ['calm'], { enabled: true, port: 7_002, health: { path: '/ok' } }),
      off: kid('Off', ['calm'], { enabled: true, port: 7_006, ui: false }),
      evil: kid('Evil', ['calm'], { enabled: true, port: 7_003, ui: {}, host: 'a b`) || Path(`/' }),
    },
    plugins: ['config', 'process', 'services', 'service-ui', 'service-traefik'],
  });
  t.teardown(() => app.stop());
  const { body } = await app.get('/config/service-ui');
  const rows = body.services.map((entry: Record<string, unknown>) => [
    entry.name,
    entry.port,
    entry.path,
    entry.entry_path,
  ]);
  t.same(rows, [
    ['plex', 32_401, '/service/ui/plex', '/web/index.html'],
    ['authelia', 9_091, '', ''],
    ['pgadmin4', 5_050, '/service/ui/pgadmin4', ''],
    ['infinidysk', 3_000, '/service/ui/infinidysk', ''],
    ['sonarr', 8_989, '/service/ui/sonarr', ''],
    ['sonarr_ultra___hd', 8_989, '/service/ui/sonarr_ultra___hd', ''],
    ['sonarr_2', 8_989, '/service/ui/sonarr_2', ''],
    ['mine', 7_001, '/service/ui/mine', ''],
    ['panel', 7_005, '/service/ui/panel', '/admin'],
    ['dumb_api_service', 8_000, '/service/ui/dumb_api_service', '/scalar'],
  ]);
  t.equal(body.enabled, false);
  t.equal(body.services[1].public_url, 'https://sso.example.org');
  t.equal(body.services[6].host, '127.0.0.1', 'a wildcard address is none to connect to');
  const map = (await app.get('/config/service-ui-map')).body;
  t.match(map, { plex: 'plex', sonarr_2: 'sonarr', dumb_api_service: 'dumb' });
  for (const { name, config_key } of body.services) t.equal(config_key, map[name], `${name} is of one type on both`);
});

t.test('a save warns about a port key that the block does not have', { skip: !isHere }, async t => {
  const app = await startHost({
    config: { panel: kid('Panel', ['calm'], { enabled: true, port: 7_004, web: 'none', ui: true }) },
    plugins: ['config', 'process', 'services', 'service-ui'],
  });
  t.teardown(() => app.stop());
  const save = async (updates: object) => (await app.post('/config', { updates })).body.warnings;
  t.match(await save({ panel: { ui: { port_key: 'wbe' } } }), [
    /^panel\.ui\.port_key: the block has no key 'wbe', so its web interface is left out; name the key that/,
  ]);
  t.match(await save({ panel: { ui: { port_key: 'web' } } }), [/panel\.ui\.port_key: 'web' holds no port/]);
  t.same(await save({ panel: { ui: { port_key: 'port' } } }), []);
});

t.test('the answer says when the environment holds the switch', { skip: !isHere }, async t => {
  process.env.DUMB_SERVICE_UI_ENABLED = 'false';
  t.teardown(() => delete process.env.DUMB_SERVICE_UI_ENABLED);
  const app = await startHost({ plugins: ['config', 'process', 'service-ui'], config: {} });
  t.teardown(() => app.stop());
  const { body } = await app.post('/config/service-ui', { enabled: true });
  t.match(body, { enabled: false, overridden: ['dumb.service_ui.enabled'], warnings: [] });
});
