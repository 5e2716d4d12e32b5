// Components that each core service has for itself: one Zurg for each, however often and with what it is chosen.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process', 'services', 'wizard'];
const skip = !PLUGINS.every(name => existsSync(path.join(pluginsDir, name)));

/** A core service that needs a Zurg and takes the keys of its provider. */
const core = (key: string, displayName: string) => ({
  key,
  displayName,
  kind: 'core',
  description: 'Plays what a debrid account has.',
  links: {},
  block: { enabled: false, process_name: displayName, command: ['sleep', '600'] },
  onboarding: {
    roles: ['core'],
    offers: ['process_name'],
    dependencies: ['zurg'],
    debridProviders: ['RealDebrid'],
    debridKey: { component: 'zurg' },
  },
  stop: { tier: 2 },
  relations: { core: { needs: ['zurg'] } },
});
const saved = async (app: TestHost) => JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));

t.test('each core service gets one Zurg', { skip }, async t => {
  const dir = testDir(t, { host: { templates: { services: {} } } });
  const templates = path.join(dir, 'host', 'templates', 'services');
  for (const [key, name] of [
    ['first_player', 'First Player'],
    ['second_player', 'Second Player'],
  ] as const)
    await writeFile(path.join(templates, `${key}.json`), JSON.stringify(core(key, name)));
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    plugins: PLUGINS,
    config: { dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } } },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  const chosen = (name: string, key: string) => ({
    name,
    debrid_service: 'RealDebrid',
    debrid_key: key,
    service_options: { zurg: { command: ['sleep', '600'], config_dir: dir } },
  });
  const begin = (...cores: object[]) => app.post('/process/start-core-service', { core_services: cores });

  const both = await begin(chosen('first_player', 'key-1'), chosen('second_player', 'key-2'));
  t.same(both.body.errors, [], both.text);
  const { instances } = (await saved(app)).zurg;
  t.same(Object.keys(instances), ['First Player', 'Second Player']);
  t.match(instances, {
    'First Player': { core_service: 'first_player', api_key: 'key-1', process_name: 'Zurg w/ First Player' },
    'Second Player': { core_service: 'second_player', api_key: 'key-2', process_name: 'Zurg w/ Second Player' },
  });
  t.not(instances['First Player'].config_file, instances['Second Player'].config_file, 'each with its own file');
  const port = async (name: string) =>
    (await app.get(`/process?process_name=${encodeURIComponent(name)}`)).body.config.port;
  t.not(await port('Zurg w/ First Player'), await port('Zurg w/ Second Player'), 'and its own port');

  t.equal((await begin(chosen('second_player', 'key-3'), chosen('second_player', 'key-3'))).status, 200);
  const again = (await saved(app)).zurg.instances;
  t.same(Object.keys(again), ['First Player', 'Second Player'], 'a second time it is used again');
  t.match([again['First Player'].api_key, again['Second Player'].api_key], ['key-1', 'key-3']);
  for (const name of ['First Player', 'Second Player'])
    t.equal((await status(app, `Zurg w/ ${name}`)).status, 'running');
});

t.test('a component whose plugin fails affects only its own core service', { skip }, async t => {
  const faulty = `export default { name: 'faulty', host: '^1', setup (host) {
    host.contribute('wizard.component', 'gadget', { configKey: 'gadget', attach () { throw new Error('no screws') } })
  } }`;
  const dir = testDir(t, { host: { plugins: { faulty: { 'index.js': faulty } }, templates: { services: {} } } });
  const templates = path.join(dir, 'host', 'templates', 'services');
  const { onboarding, relations, ...rest } = core('needy_player', 'Needy Player');
  const gadget = { ...rest, key: 'gadget', displayName: 'Gadget', kind: 'dependent', instance: 'Default' };
  for (const template of [
    { ...gadget, block: { ...rest.block, process_name: 'Gadget' } },
    {
      ...rest,
      onboarding: { ...onboarding, dependencies: ['gadget'], debridKey: undefined },
      relations: { core: { needs: ['gadget'] } },
    },
    {
      ...core('plain_player', 'Plain Player'),
      onboarding: { roles: ['core'], offers: ['process_name'] },
      relations: undefined,
    },
  ])
    await writeFile(path.join(templates, `${template.key}.json`), JSON.stringify(template));
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    plugins: [...PLUGINS, 'faulty'],
    config: { dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } } },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  const begin = (...names: string[]) =>
    app.post('/process/start-core-service', { core_services: names.map(name => ({ name })) });
  const error = 'Gadget cannot be set up for Needy Player, because the plugin faulty fails: no screws';
  const both = await begin('needy_player', 'plain_player');
  t.equal(both.status, 200, both.text);
  t.match(both.body, {
    results: [{ service: 'plain_player', status: 'started' }],
    errors: [{ service: 'needy_player', error }],
  });
  const file = await saved(app);
  t.equal(file.needy_player?.enabled ?? false, false, 'nothing of it is saved');
  t.equal(file.gadget, undefined);
  const alone = await begin('needy_player');
  t.match(alone, { status: 500, body: { detail: `None of the services could be started: ${error}` } });
});
