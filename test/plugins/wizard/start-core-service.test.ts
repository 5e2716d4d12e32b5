// Choosing and starting services: what is offered, what a request changes in the configuration, and how failures are
// reported.
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { programOf } from '../../support/debian.ts';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost, type TestHostOptions } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { PACE } from '../../support/pace.ts';
import { until } from '../../support/until.ts';

const isHere = existsSync(new URL('../../../plugins/wizard/index.ts', import.meta.url));
const skip = !isHere;

const QUICK = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1, readiness_timeout_seconds: 1 };

/** A block whose program every machine has. */
const idle = (dir: string, more: Record<string, unknown> = {}) => ({
  command: ['sleep', '600'],
  config_dir: dir,
  config_file: path.join(dir, `${randomUUID()}.xml`),
  ...more,
});
/** A directory that belongs to the services' user. */
function ownDir(t: Parameters<typeof testDir>[0]): string {
  const dir = testDir(t, {});
  if (process.getuid?.() === 0) chownSync(dir, 65_534, 65_534);
  return dir;
}
const begin = (app: TestHost, body: unknown) => app.post('/process/start-core-service', body);
const saved = async (app: TestHost) => JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));

/** Pass a slower `pace` when a service must end within the observation, even on a slow machine. */
async function open(
  t: { teardown(fn: () => unknown): void },
  config: Record<string, unknown>,
  { pace = PACE, plugins = 'services' }: Pick<TestHostOptions, 'pace' | 'plugins'> = {},
) {
  const app = await startHost({ plugins, pace, config: { dumb: { startup: QUICK }, ...config } });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal, { timeoutMs: 60_000 });
  return app;
}

t.test('core and optional services are offered', { skip }, async t => {
  const dir = testDir(t, {});
  const app = await open(
    t,
    {
      plex: { friendly_name: 'Living room', plex_claim: 'claim-x', port: 32_500 },
      zurg: { instances: { Mine: { process_name: 'Z', core_service: 'riven_backend', port: 9_191, config_dir: dir } } },
    },
    { plugins: 'offline' },
  );
  const { core_services: cores } = (await app.get('/process/core-services')).body;
  t.same(
    cores.map((core: { key: string }) => core.key).join(' '),
    'plex jellyfin emby cli_debrid decypharr infinidysk altmount riven_backend radarr sonarr lidarr prowlarr whisparr seerr neutarr profilarr',
  );
  const core = (key: string) => cores.find((candidate: { key: string }) => candidate.key === key);
  for (const { key, service_options: options, service_option_descriptions: texts, dependencies } of cores) {
    for (const component of [key, ...dependencies]) {
      t.ok(Object.keys(options[component] ?? {}).length > 0, `${key}: a page without options would break the wizard`);
      const silent = Object.keys(options[component]).filter(option => !texts[component][option]);
      t.same(silent, [], `${key}: each option of ${component} is explained`);
    }
  }
  t.match(core('plex').service_options.plex, { friendly_name: 'Living room', plex_claim: '', port: 32_500 });
  t.equal(core('riven_backend').service_options.zurg.port, 9_191, 'of the instance that belongs to it');
  t.equal(core('cli_debrid').service_options.zurg.port, 9_090, 'else of the template');
  t.match(core('decypharr'), {
    name: 'Decypharr',
    dependencies: ['rclone'],
    debrid_providers: ['RealDebrid', 'AllDebrid', 'Debrid Link', 'TorBox', 'Premiumize'],
    service_options: { decypharr: { mount_type: 'dfs', mount_path: '/mnt/debrid/decypharr' } },
    supports_instances: false,
    instance_options: {},
  });
  t.match(core('decypharr').description, /\nhttps:\/\/.*\nProviders: RealDebrid, /);
  t.match(core('sonarr'), { supports_instances: true, instance_options: { Default: { port: 8_989 } } });
  t.notOk('core_service' in core('seerr').service_options.seerr, 'hidden');

  const optional = async (query: string) =>
    (await app.get(`/process/optional-services${query}`)).body.optional_services.map(
      (entry: { key: string }) => entry.key,
    );
  const all = await optional('');
  t.equal(
    all.join(' '),
    'zilean pgadmin postgres riven_frontend tautulli bazarr pulsarr maintainerr aiostreams mediastorm traefik_proxy_admin authelia cloudflared',
  );
  const without = all.filter((key: string) => key !== 'postgres');
  t.same(await optional('?core_service=riven_backend'), without);
  t.same(await optional('?core_service=nobody'), all);
  for (const query of ['optional_services%5B%5D=mediastorm', 'optional_services=tautulli,zilean'])
    t.same(await optional(`?${query}`), without, query);
  t.same(await optional('?optional_services[]=zilean&optional_services[]=postgres'), all, 'chosen itself it stays');
});

t.test('requests that are refused change nothing, and need not wait for a start in progress', { skip }, async t => {
  const dir = testDir(t, {});
  const later = path.join(dir, 'later');
  const app = await startHost({
    plugins: 'services',
    config: {
      dumb: { startup: { ...QUICK, readiness_timeout_seconds: 600 } },
      plex: idle(dir),
      waiter: { process_name: 'Waiter', command: ['sleep', '600'], enabled: true, wait_for_dir: later },
    },
  });
  t.teardown(() => app.stop());
  const boot = async () => (await app.get('/process/startup-status')).body;
  await until(async () => (await status(app, 'Waiter')).status === 'starting');
  const before = await saved(app);
  for (const [body, code, detail] of [
    [{ core_services: { name: 'lidarr' } }, 500, /Lidarr cannot start: the program .* is not installed/],
    [
      { core_services: { name: 'riven', debrid_service: 'RealDebrid', debrid_key: 'x' } },
      500,
      /cannot start: the program .* is not installed/,
    ],
    [{ core_services: [] }, 400, /^No services were selected$/],
    [{ core_services: { name: 'nobody' } }, 400, /'nobody' is not a known service; GET \/process\/core-services lists/],
    [{ core_services: { name: 'zilean' } }, 400, /'zilean' is not a core service; GET \/process\/core-services lists/],
    [
      { core_services: [], optional_services: ['sonarr'] },
      400,
      /'sonarr' is not an optional service; GET \/process\/optional-services lists/,
    ],
    [{ core_services: [], optional_services: ['cli_battery'] }, 400, /'cli_battery' is not an optional service/],
    [{ core_services: { name: 'plex', service_options: { plex: { port: 'high' } } } }, 400, /plex\.port/],
    [{ core_services: { name: 'plex', service_options: { plex: { port: 70_000 } } } }, 400, /plex\.port/],
    [
      { core_services: { name: 'sonarr', instance_name: 'x'.repeat(65) } },
      400,
      /more than 64 characters; choose a shorter one/,
    ],
    [{ core_services: { name: 'lidarr', service_options: { lidarr: { port: 'high' } } } }, 400, /lidarr.*\.port/],
    [
      { core_services: [{ name: 'plex' }, { name: 'lidarr', service_options: { lidarr: { port: 70_000 } } }] },
      400,
      /lidarr.*\.port/,
    ],
    [{ core_services: { name: 'plex', surprise: 1 } }, 422, String],
    [{ core_services: { name: 7 } }, 422, /^body\.core_services\.name: /],
    [{ core_services: [{ name: 'plex', debrid_service: [7] }] }, 422, /^body\.core_services\.0\.debrid_service\.0: /],
    [{ core_services: 'plex' }, 422, /^body\.core_services: /],
    [{ optional_services: ['zilean'] }, 422, String],
  ] as const) {
    t.match(await begin(app, body), { status: code, body: { detail } }, JSON.stringify(body).slice(0, 90));
  }
  t.same(await saved(app), before);
  t.match(await boot(), { terminal: false, services: { Waiter: { reason: /later/ } } }, 'it says what is waited for');

  const started = begin(app, { core_services: { name: 'plex' } });
  await until(async () => (await saved(app)).plex.enabled === true, { what: 'what was chosen to be saved' });
  const told = /onboarding waits .*: Waiter; \/process\/startup-status says why/;
  await until(async () => (await ownLog(app)).some(line => told.test(line)), { what: 'a line about the wait' });
  t.equal((await status(app, 'Plex Media Server')).status, 'stopped');
  await mkdir(later);
  t.same(
    (await started).body.results,
    [{ service: 'plex', status: 'started' }],
    'it goes on when the others are there',
  );
});

t.test('an instance is found by a name that only looks the same', { skip }, async t => {
  const dir = ownDir(t);
  const instances = { 'Cafe\u0301': idle(dir, { process_name: 'One' }), '4K ': idle(dir, { process_name: 'Two' }) };
  const app = await open(t, { puid: 65_534, sonarr: { instances } });
  for (const [name, found] of [
    ['Caf\u00E9', 'One'],
    ['4k', 'Two'],
  ] as const) {
    const { body } = await begin(app, { core_services: { name: 'sonarr', instance_name: name } });
    t.same(body.errors, [], name);
    t.equal((await status(app, found)).status, 'running', name);
  }
  t.same(Object.keys((await saved(app)).sonarr.instances).sort(), ['4K ', 'Cafe\u0301']);
});

t.test('instances are created, reused and named', { skip }, async t => {
  const dir = ownDir(t);
  const app = await open(t, {
    puid: 65_534,
    plex: idle(dir, { port: 8_990, enabled: true }),
    sonarr: {
      instances: { Default: idle(dir, { enabled: false }), '1080p': idle(dir, { process_name: 'Sonarr 1080p' }) },
    },
    taken: { process_name: 'Sonarr 4K / HDR', command: ['sleep', '1'], enabled: false },
  });
  const first = await begin(app, {
    core_services: [
      {
        name: 'SONARR',
        instance_name: '1080P',
        service_options: { sonarr: { use_neutarr: false }, '1080P': { port: 9_500 } },
      },
      {
        name: 'sonarr',
        instance_name: ' 4K / HDR! ',
        service_options: { sonarr: idle(dir), '4K  HDR': { pinned_version: '4.0' } },
      },
      { name: 'sonarr', instance_name: '4K__HDR' },
      { name: 'sonarr', instance_name: 'Absent' },
    ],
  });
  t.same(
    first.body.results.map(({ service }: { service: string }) => service),
    ['SONARR', 'sonarr'],
  );
  t.match(first.body.errors, [
    { service: 'sonarr', component: null, error: /Sonarr Absent cannot start: the program .* is not installed/ },
    {
      service: 'sonarr',
      component: null,
      error: /the instance .* of Sonarr would share the folder of 4K {2}HDR; choose another name/,
    },
  ]);
  const { instances } = (await saved(app)).sonarr;
  t.notOk('Default' in instances, 'the placeholder is gone');
  t.match(instances['1080p'], { enabled: true, port: 9_500 }, 'the options of the instance win');
  t.match(instances['4K  HDR'], {
    enabled: true,
    process_name: 'Sonarr 4K  HDR',
    port: 8_989,
    pinned_version: '4.0',
  });
  t.notMatch((await ownLog(app)).join('\n'), /options were sent for/);
  t.same(Object.keys(instances), ['1080p', '4K  HDR'], 'nothing is left of what cannot start');
  t.equal((await status(app, 'Sonarr 1080p')).status, 'running');

  const unnamed = await begin(app, { core_services: { name: 'Sonarr' } });
  t.same(unnamed.body.results, [{ service: 'Sonarr', status: 'started' }], 'the enabled ones');
});

t.test('an enabled first instance is user data', { skip }, async t => {
  const dir = ownDir(t);
  const app = await open(t, {
    puid: 65_534,
    radarr: { instances: { Default: idle(dir, { enabled: true }) } },
    prowlarr: { instances: { Default: idle(dir, { enabled: false }) } },
  });
  await begin(app, {
    core_services: [
      { name: 'radarr', instance_name: 'Second', service_options: { radarr: idle(dir) } },
      { name: 'prowlarr' },
    ],
  });
  const { radarr, prowlarr } = await saved(app);
  t.same(Object.keys(radarr.instances), ['Default', 'Second']);
  t.equal(radarr.instances.Second.port, 7_879, 'the next port that no instance has');
  t.equal(prowlarr.instances.Default.enabled, true, 'without a name the first is used');
  t.equal((await status(app, 'Prowlarr')).status, 'running');
});

t.test('components of a core service are configured and started', { skip }, async t => {
  // A service without a command of its own is searched on PATH.
  await programOf(['rclone'], ['rclone']);
  const dir = testDir(t, {});
  const app = await open(
    t,
    {
      puid: 65_534,
      decypharr: idle(dir, { mount_type: 'external_rclone', command: ['false'] }),
      infinidysk: idle(dir),
      cli_debrid: idle(dir),
      cli_battery: idle(dir, { command: ['false'] }),
      phalanx_db: idle(dir),
      zurg: {
        instances: { CLID: idle(dir, { process_name: 'Zurg w/ CLID', api_key: 'old', config_file: `${dir}/a.yml` }) },
      },
      rclone: {
        instances: {
          CLID: idle(dir, { process_name: 'Rclone w/ CLID' }),
          InfiniDysk: idle(dir, { process_name: 'Rclone w/ InfiniDysk', core_service: ['infinidysk'] }),
          Former: idle(dir, { process_name: 'Former', decypharr_enabled: true, zurg_enabled: false, enabled: true }),
        },
      },
    },
    { pace: 0.5 },
  );
  const { body } = await begin(app, {
    core_services: [
      { name: 'CLID', debrid_service: ['RealDebrid'], debrid_key: [' NEW '] },
      { name: 'nzbdav' },
      { name: 'Decypharr', debrid_service: ['TorBox', null, 'Debrid Link'], debrid_key: [null, null, 'L'] },
    ],
    // It belongs to the first core service, and comes with it.
    optional_services: ['cli_battery'],
  });
  t.same(body.results, [{ service: 'nzbdav', status: 'started' }], 'by its former name');
  t.match(body.errors, [
    { service: 'CLID', component: 'CLI Battery', error: /^CLI Battery is needed and did not start/ },
    { service: 'Decypharr', component: null, error: /^Decypharr cannot start/ },
  ]);
  const { zurg, rclone, decypharr, infinidysk } = await saved(app);
  t.match(zurg.instances.CLID, { enabled: true, api_key: 'NEW' }, 'an attached instance is used again');
  t.same(decypharr.api_keys, { debridlink: 'L' });
  t.match(infinidysk, {
    enabled: true,
    webdav_password: /^[0-9a-f]{48}$/,
    env: { FRONTEND_BACKEND_API_KEY: /^[0-9a-f]{64}$/ },
  });
  t.equal(rclone.instances.Former.enabled, false, 'one mount of it at a time');
  t.match(rclone.instances.Decypharr, {
    enabled: true,
    core_service: 'decypharr',
    key_type: 'decypharr',
    zurg_enabled: false,
  });
  for (const name of ['Zurg w/ CLID', 'Rclone w/ CLID', 'Rclone w/ InfiniDysk', 'InfiniDysk'])
    t.equal((await status(app, name)).status, 'running', name);
  for (const name of ['CLI Debrid', 'Rclone w/ Decypharr'])
    t.equal((await status(app, name)).status, 'stopped', `${name}, not without what it needs`);

  for (const [core, detail] of [
    [
      { name: 'CLID', debrid_service: 'TorBox', debrid_key: 'x' },
      /CLID cannot use the provider TorBox; it takes RealDebrid/,
    ],
    [{ name: 'CLID', debrid_service: [], debrid_key: ['x'] }, /without its provider; name it in debrid_service/],
    [
      { name: 'CLID', debrid_service: ['RealDebrid', 'real debrid'], debrid_key: ['x', 'y'] },
      /CLID takes one provider; leave out RealDebrid/,
    ],
  ] as const) {
    const refused = await begin(app, { core_services: [core] });
    t.match(refused, { status: 500, body: { detail, results: [], errors: [{ service: 'CLID', error: detail }] } });
  }
  t.match((await saved(app)).zurg.instances.CLID, { api_key: 'NEW' });
});

t.test('options are set, and one request is handled at a time', { skip }, async t => {
  const dir = testDir(t, {});
  const app = await open(t, {
    puid: 65_534,
    sonarr: { instances: { TV: idle(dir, { process_name: 'Sonarr TV' }) } },
    neutarr: { instances: { Default: idle(dir) } },
    tautulli: idle(dir),
  });
  const first = begin(app, {
    core_services: [
      {
        name: 'sonarr',
        instance_name: 'TV',
        service_options: {
          sonarr: { use_neutarr: true, use_profilarr: null, nonsense: 1 },
          tautulli: { log_level: 'FATAL', port: 8_200 },
        },
      },
    ],
    optional_services: ['tautulli'],
    optional_service_options: { tautulli: { port: 8_300 } },
  });
  await until(async () => (await status(app, 'Tautulli')).status === 'starting', { what: 'the first request' });
  const two = await begin(app, { core_services: { name: 'plex' } });
  const one = await first;
  t.same(
    one.body.results.map((result: { service: string }) => result.service),
    ['tautulli', 'sonarr', 'neutarr'],
  );
  t.match(two, { status: 409, body: { detail: 'Another onboarding start is in progress' } });
  const { sonarr, tautulli, neutarr } = await saved(app);
  t.same(sonarr.instances.TV.use_neutarr, true);
  t.notOk('nonsense' in sonarr.instances.TV);
  t.match(tautulli, { enabled: true, log_level: 'CRITICAL', port: 8_300 });
  t.equal(neutarr.instances.Default.enabled, true);
});

t.test('a service for a setting of others is not enabled if it cannot start', { skip }, async t => {
  const dir = testDir(t, {});
  const wanting = { process_name: 'Sonarr TV', use_neutarr: true };
  const app = await open(t, {
    puid: 65_534,
    plex: idle(dir),
    sonarr: { instances: { TV: idle(dir, { ...wanting, enabled: true }) } },
  });
  const before = await saved(app);
  const refused = await begin(app, { core_services: { name: 'lidarr' } });
  t.match(refused, { status: 500, body: { results: [], errors: [{ service: 'lidarr' }] } });
  t.equal(refused.body.errors.length, 1, 'only of what was chosen');
  t.same(await saved(app), before, 'a refused request leaves nothing behind');

  const started = await begin(app, { core_services: { name: 'plex' } });
  t.match(started, {
    status: 200,
    body: {
      results: [{ service: 'plex', status: 'started' }],
      errors: [{ service: 'neutarr', error: /^NeutArr cannot start: the program .* is not installed/ }],
    },
  });
  t.same(await saved(app), { ...before, plex: { ...before.plex, enabled: true } });
});

t.test('programs of later components are checked before anything is saved', { skip }, async t => {
  const dir = testDir(t, {});
  const absent = idle(dir, {
    process_name: 'Rclone w/ InfiniDysk',
    core_service: ['infinidysk'],
    command: ['no-such'],
  });
  const app = await open(t, {
    puid: 65_534,
    infinidysk: idle(dir),
    rclone: { instances: { InfiniDysk: absent } },
  });
  const before = await saved(app);
  const refused = await begin(app, { core_services: { name: 'infinidysk' } });
  const error = /Rclone w\/ InfiniDysk cannot start: the program no-such .* is not installed/;
  const errors = [{ service: 'infinidysk', component: 'Rclone w/ InfiniDysk', error }];
  t.match(refused, { status: 500, body: { results: [], errors } });
  t.same(await saved(app), before);
});

t.test('a shutdown during a start is reported, and the choice stays', { skip }, async t => {
  const dir = testDir(t, {});
  const waiting = { wait_for_dir: path.join(dir, 'later') };
  const detail = /^The service is shutting down; what was chosen is saved/;
  const app = await open(t, { puid: 65_534, plex: idle(dir, waiting), tautulli: idle(dir) });
  const started = begin(app, { core_services: { name: 'plex' }, optional_services: ['tautulli'] });
  await until(async () => (await status(app, 'Plex Media Server')).status === 'starting');
  t.ok((await ownLog(app)).some(line => line.includes('Plex Media Server: start asked for by user')));
  t.match(await saved(app), { plex: { enabled: true }, tautulli: { enabled: true } });
  const stopped = app.stop();
  t.match(await started, { status: 503, body: { detail } });
  await stopped;

  const booting = await startHost({
    plugins: 'services',
    config: {
      dumb: { startup: { ...QUICK, readiness_timeout_seconds: 600 } },
      puid: 65_534,
      plex: idle(dir, { enabled: true, ...waiting }),
      tautulli: idle(dir),
    },
  });
  t.teardown(() => booting.stop());
  const behind = begin(booting, { core_services: [], optional_services: ['tautulli'] });
  await until(async () => (await saved(booting)).tautulli.enabled === true);
  const ended = booting.stop();
  t.match(await behind, { status: 503, body: { detail } }, 'also while the boot is waited for');
  await ended;
});

t.test('one request writes few lines into the log, however much of it is ignored', { skip }, async t => {
  const dir = testDir(t, {});
  const app = await open(t, { puid: 65_534, tautulli: idle(dir) });
  const options = (name: string) => Object.fromEntries(Array.from({ length: 60 }, (_, index) => [name + index, {}]));
  const { status: code } = await begin(app, {
    core_services: [],
    optional_services: ['tautulli'],
    optional_service_options: { ...options('stray'), tautulli: options('unknown') },
  });
  t.equal(code, 200);
  const ignored = (await ownLog(app)).filter(line => / ignored/.test(line));
  t.equal(ignored.length, 51);
  t.match(ignored.at(-1), /WARNING - .* further options are ignored, and not told$/);
});

t.test('notes of the save are in the answer', { skip }, async t => {
  process.env.TAUTULLI_PORT = '8201';
  t.teardown(() => delete process.env.TAUTULLI_PORT);
  const dir = testDir(t, {});
  const app = await open(t, { puid: 65_534, plex: idle(dir, { port: 8_400 }), tautulli: idle(dir) });
  const { status: code, body } = await begin(app, {
    core_services: { name: 'plex', service_options: { tautulli: { port: 8_202 }, plex: { no_such: 1, own: null } } },
    optional_services: ['tautulli'],
    optional_service_options: { tautuli: { port: 8_203 } },
  });
  const text = await ownLog(app);
  const ignored = text.filter(line => line.includes('is ignored'));
  const stray = text.filter(line => line.includes('they are ignored'));
  t.match(stray, [/WARNING - .* sent for tautuli, which is no service and no instance; they are ignored$/]);
  t.equal(stray.length, 1);
  t.match(ignored, [/WARNING - .* has no option no_such; it is ignored$/], 'the one that is not known, once');
  t.notOk('no_such' in (await saved(app)).plex);
  t.match([code, body.overridden, body.warnings], [200, ['tautulli.port'], []]);
  const again = await begin(app, { core_services: { name: 'plex', service_options: { plex: { port: 8_201 } } } });
  t.match(again, { status: 200, body: { overridden: [], warnings: [/8201 of .* is also that of /] } });
});

t.test('an unknown option is reported once when a choice is refused', { skip }, async t => {
  const dir = testDir(t, {});
  const app = await open(t, { puid: 65_534, plex: idle(dir) });
  const { body } = await begin(app, {
    core_services: [{ name: 'plex', service_options: { plex: { no_such: 1 } } }, { name: 'sonarr' }],
  });
  t.match(body, { results: [{ service: 'plex' }], errors: [{ service: 'sonarr' }] });
  const ignored = (await ownLog(app)).filter(line => line.includes('is ignored'));
  t.match(ignored, [/has no option no_such; it is ignored$/]);
  t.equal(ignored.length, 1);
});
