// Every seam of plugins/README.md, used by a third party's plugin: its contributions count, and its taps are called.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { start, stop } from '../support/kids.ts';
import { until } from '../support/until.ts';

const POINTS = [
  'arr.consumer',
  'config.block',
  'config.format',
  'config.schema',
  'config.template',
  'process.dependencies',
  'process.stop-policy',
  'service.integration',
];
const HOOKS = [
  'auth.changed',
  'config.changed',
  'config.check',
  'config.file-changed',
  'config.review',
  'host.forced',
  'host.hangup',
  'host.ready',
  'process.exited',
  'process.launching',
  'process.launched',
  'process.prepare',
  'process.started',
  'process.status',
];
const SERVICES = [
  'access',
  'arr.applications',
  'config.files',
  'config.store',
  'dependency.graph',
  'http.entrance',
  'http.requests',
  'log.hub',
  'mount.control',
  'process.supervisor',
  'service.proxy',
  'service.setup',
  'service.templates',
  'service.ui-entrance',
  'service.uis',
  'service.versions',
];

const PLUGIN = `
  const heard = new Map();
  export default {
    name: 'third-party',
    host: '^1',
    after: ['service-rclone', 'service-traefik', 'service-ui', 'dependency-graph'],
    setup(host) {
      const { z } = host;
      const contribute = {
        'arr.consumer': { configKey: 'nap', managers: async () => [] },
        'config.block': { schema: z.looseObject({ depth: z.number().default(1) }) },
        'config.format': {
          name: 'lines',
          extensions: ['.lines'],
          parse: text => ({ lines: text.trimEnd().split('\\n') }),
          edit: (text, updates) => ({ text: updates.lines.join('\\n') + '\\n', changed: 1 }),
          readUpdate: text => ({ kind: 'file', text }),
        },
        'config.schema': { path: ['dumb', 'third'], schema: z.object({ colour: z.string().default('red') }).prefault({}) },
        'config.template': {
          path: ['doze'],
          block: () => ({ enabled: false, process_name: 'Doze', command: ['sleep', '600'] }),
        },
        'process.dependencies': { startOrder: async () => ({ needs: new Map(), cycles: [] }) },
        'process.stop-policy': { configKey: 'nap', signal: 'SIGINT' },
        'service.integration': {
          targets: ['nap'],
          providers: ['other'],
          apply: async (target, told) => { heard.set('integrated', target.processName); told('met the other one'); },
        },
      };
      for (const [point, value] of Object.entries(contribute)) {
        host.contribute(point, point === 'config.block' ? 'nap' : 'third-party', value);
      }
      for (const hook of ${JSON.stringify(HOOKS)}) {
        host.tap(hook, (...args) => { heard.set(hook, args); return hook === 'process.prepare' ? args[0] : undefined; });
      }
      const find = name => host.find(name);
      host.route({
        method: 'GET',
        path: '/third/heard',
        summary: 'What was heard',
        access: 'public',
        handle: () => ({ heard: [...heard.keys()], integrated: heard.get('integrated'), signal: heard.get('process.exited')?.[1].signal }),
      });
      host.route({
        method: 'GET',
        path: '/third/services',
        summary: 'What each service answers',
        async handle() {
          const block = find('config.store').findBlock('Nap');
          return {
            present: ${JSON.stringify(SERVICES)}.filter(name => find(name) !== undefined),
            access: find('access').enabled(),
            file: await find('config.files').values(block),
            level: find('log.hub').level(),
            control: (await find('mount.control')('Nap')) ?? null,
            proxy: find('service.proxy').configKey,
            foreign: find('http.entrance').allowsOrigin('http://elsewhere.example'),
            mustLogIn: await find('http.entrance').mustLogIn(),
            kinds: find('arr.applications').kinds,
            embedded: find('service.uis').enabled(),
            entrance: (await find('service.ui-entrance').address()) ?? null,
            names: find('process.supervisor').list().map(({ processName }) => processName),
            template: find('service.templates').get('sonarr').key,
            obstacle: (await find('service.setup').obstacle(find('config.store').findBlock('Plex Media Server')))?.message,
          };
        },
      });
    },
  };`;

t.test('every seam from a third party', async t => {
  const dir = testDir(t, { config: { plugins: { 'third-party': { 'index.js': PLUGIN } } }, work: {} });
  const configDir = path.join(dir, 'config');
  const work = path.join(dir, 'work');
  await mkdir(work, { recursive: true });
  await chmod(work, 0o777);
  await writeFile(path.join(work, 'nap.lines'), 'one\ntwo\n', { mode: 0o666 });
  const nap = { enabled: false, command: ['sleep', '600'], config_dir: work, stop_grace_seconds: 5 };
  const app = await startHost({
    configDir,
    plugins: 'all',
    config: {
      nap: { ...nap, process_name: 'Nap', config_file: path.join(work, 'nap.lines') },
      other: { ...nap, process_name: 'Other' },
      // No request goes to the internet.
      dumb: { install_mirrors: { 'plex.tv': 'http://127.0.0.1:1' } },
    },
  });
  t.teardown(() => app.stop());
  const heard = async () => (await app.get('/third/heard')).body;

  const own = app.host.plugins().find(({ name }) => name === 'third-party');
  t.match(own, { state: 'ready', reason: null });
  for (const point of POINTS)
    t.ok(
      own?.contributions.some(entry => entry.startsWith(`${point}:`)),
      point,
    );
  const config = (await app.get('/config')).body;
  t.equal(config.dumb.third.colour, 'red', 'config.schema');
  t.match(config.doze, { process_name: 'Doze' }, 'config.template');
  const wrong = await app.post('/config', { process_name: 'Nap', updates: { depth: 'deep' } });
  t.match(wrong, { status: 400, body: { detail: /depth/ } }, 'config.block');

  const right = await app.post('/config', { process_name: 'Nap', updates: { depth: 2 } });
  t.equal(right.status, 200, right.text);

  const services = await app.get('/third/services');
  t.equal(services.status, 200, services.text);
  t.same(services.body.present, SERVICES);
  t.match(services.body, {
    access: false,
    file: { lines: ['one', 'two'] },
    level: 'INFO',
    control: null,
    proxy: 'traefik',
    foreign: false,
    mustLogIn: false,
    embedded: false,
    entrance: /^http:\/\/127\.0\.0\.1:\d+$/,
    template: 'sonarr',
    obstacle: /^Plex Media Server cannot be installed: plex\.tv cannot be asked/,
  });
  t.ok(services.body.names.includes('Nap'));
  t.ok(services.body.kinds.includes('sonarr'));

  for (const name of ['Other', 'Nap']) t.equal((await start(app, name)).status, 200, name);
  t.equal(await until(async () => (await heard()).integrated), 'Nap', 'service.integration');
  const saved = await app.post('/config/service-config', { service_name: 'Nap', updates: { lines: ['three'] } });
  t.equal(saved.status, 200, saved.text);
  t.equal((await stop(app, 'Nap')).status, 200);
  t.equal(await until(async () => (await heard()).signal), 'SIGINT', 'process.stop-policy');
  await app.host.reviewConfig();
  await app.host.reload();
  await app.host.force();
  const made = await app.post('/auth/setup', { username: 'me-myself', password: 'a long password' });
  t.equal(made.status, 200, made.text);
  await until(async () => (await heard()).heard.includes('auth.changed'));
  const { heard: names } = await heard();
  t.same(
    HOOKS.filter(hook => !names.includes(hook)),
    [],
    'every hook was heard',
  );
});
