// Seams between plugins of services, used by a third party: components of onboarding, clients and indexers of media
// managers, health.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { arr, fieldsOf, listener, stateOf } from '../support/arr-stack.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { pidOf, start, status } from '../support/kids.ts';
import { until } from '../support/until.ts';

const STARTUP = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1, readiness_timeout_seconds: 1 };

const template = (key: string, displayName: string, role: string, more: object = {}): string =>
  JSON.stringify({
    key,
    displayName,
    kind: { core: 'core', optional: 'infrastructure', dependency: 'dependent' }[role],
    description: 'Of a third party.',
    links: {},
    block: { enabled: false, process_name: displayName, command: ['sleep', '600'] },
    onboarding: { roles: [role], offers: ['command'] },
    stop: { tier: 2 },
    ...more,
  });

const TEMPLATES = {
  'finder.json': template('finder', 'Finder', 'core', {
    block: { enabled: false, process_name: 'Finder', command: ['sleep', '600'], env: { STORE: 'store' } },
    relations: { core: { needs: ['shelf'] } },
  }),
  'shelf.json': template('shelf', 'Shelf', 'dependency', { instance: 'Default' }),
  'store.json': template('store', 'Store', 'optional'),
  'aside.json': template('aside', 'Aside', 'optional'),
};

const plugin = (setup: string) => ({
  'index.js': `export default {
    name: 'finder',
    host: '^1',
    after: ['process', 'service-arr', 'wizard', 'health-probe', 'auto-restart'],
    setup(host) { ${setup} },
  }`,
});

t.test('a component and a prerequisite of onboarding can be contributed', async t => {
  const configDir = testDir(t, {
    templates: { services: TEMPLATES },
    plugins: {
      finder: plugin(`
        host.contribute('wizard.component', 'shelf', {
          configKey: 'shelf',
          attach: ({ core }) => ({ values: { env: { OWNER: core.key } }, excludes: other => other.key === 'Other' }),
        });
        host.contribute('wizard.prerequisite', 'store', {
          configKey: 'store',
          isUsedBy: ({ block }) => block.block.env?.STORE === 'store',
          serve: (own, users) => ({ env: { USERS: users.map(({ block }) => block.processName).join() } }),
        });
        host.contribute('wizard.prerequisite', 'aside', {
          configKey: 'aside',
          isUsedBy: () => { throw new Error('cannot tell') },
          serve: () => ({}),
        });`),
    },
  });
  const other = { enabled: true, process_name: 'Other shelf', command: ['sleep', '600'] };
  const app = await startHost({
    configDir,
    plugins: ['process', 'services', 'wizard', 'finder'],
    config: { dumb: { startup: STARTUP }, shelf: { instances: { Other: other } } },
  });
  t.teardown(() => app.stop());
  const started = await app.post('/process/start-core-service', { core_services: [{ name: 'finder' }] });
  t.match(started, { status: 200, body: { results: [{ service: 'finder', status: 'started' }] } }, started.text);
  const saved = JSON.parse(await readFile(path.join(configDir, 'stackwarden.json'), 'utf8'));
  t.match(saved.shelf.instances.Finder, { enabled: true, core_service: 'finder', env: { OWNER: 'finder' } });
  t.equal(saved.shelf.instances.Other.enabled, false, 'what the component excludes is switched off');
  t.match(saved.store, { enabled: true, env: { USERS: 'Finder' } });
  t.equal((await status(app, 'Store')).status, 'running');
  t.equal(saved.aside?.enabled ?? false, false, 'one that cannot tell whether it is used is not');
});

t.test('a download service and an indexer can be contributed', async t => {
  const dir = testDir(t, {
    host: {
      templates: { services: TEMPLATES },
      plugins: {
        finder: plugin(`
          host.contribute('arr.download-service', 'finder', {
            configKey: 'finder',
            takesTorrents: true,
            clients: async ({ kind }, { block }) => [{
              name: 'Finder',
              implementation: 'QBittorrent',
              fields: { port: block.port, username: kind, password: 'secret' },
              category: 'found',
            }],
          });
          host.contribute('arr.indexer', 'broken', { configKey: 'store', entry: () => { throw new Error('no entry') } });
          host.contribute('arr.indexer', 'store', {
            configKey: 'store',
            entry: ({ block }) => ({
              name: 'Store',
              implementation: 'Torznab',
              template: 'Generic Torznab',
              fields: { baseUrl: 'http://127.0.0.1:' + block.port },
              address: ['baseUrl'],
            }),
          });`),
      },
    },
  });
  const finder = await listener(dir, 'Finder');
  const store = await listener(dir, 'Store');
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    plugins: ['process', 'services', 'config-files', 'format-xml', 'service-arr', 'service-prowlarr', 'finder'],
    config: {
      data_root: dir,
      dumb: { startup: STARTUP, integrations: { retry_seconds: 0.2, answer_seconds: 2 } },
      finder,
      store,
      prowlarr: { instances: { Default: await arr(dir, 'prowlarr', 'Prowlarr') } },
      sonarr: { instances: { Default: await arr(dir, 'sonarr', 'Sonarr', { core_service: 'finder' }) } },
    },
  });
  t.teardown(() => app.stop());
  const client = await until(async () => (await stateOf(dir, 'Sonarr')).downloadclient[0], { what: 'the client' });
  t.match(client, { name: 'Finder', implementation: 'QBittorrent' });
  t.match(fieldsOf(client), { port: finder.port, username: 'sonarr', tvCategory: 'found' });
  const indexer = await until(async () => (await stateOf(dir, 'Prowlarr')).indexer[0], { what: 'the indexer' });
  t.equal(fieldsOf(indexer).baseUrl, `http://127.0.0.1:${store.port}`);
});

t.test('a plugin gets answers of probes, and can change plans of restarts', async t => {
  const dir = testDir(t, {
    host: {
      plugins: {
        finder: plugin(`
          const probed = [];
          host.tap('process.probed', ({ processName, pid }, health) => void probed.push({ processName, pid, health: health.status }));
          host.route({
            method: 'GET',
            path: '/finder/looks',
            summary: 'What others know of the process',
            async handle() {
              const process = host.use('process.supervisor').get('Finder');
              const asked = await host.use('process.health').ask(process);
              return {
                probed,
                asked: asked.status,
                last: host.use('process.health').last(process).status,
                restarts: host.use('process.restarts').report('Finder'),
              };
            },
          });`),
      },
    },
  });
  const finder = await listener(dir, 'Finder', { enabled: false });
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    plugins: ['process', 'health-probe', 'auto-restart', 'finder'],
    config: {
      dumb: {
        startup: STARTUP,
        auto_restart: { enabled: true, unhealthy_threshold: 7, services: [{ process_name: 'Finder' }] },
      },
      finder,
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Finder')).status, 200);
  const pid = await pidOf(app, 'Finder');
  const looks = await until(async () => {
    const { body } = await app.get('/finder/looks');
    return body?.last === 'healthy' && body;
  });
  t.match(looks, { asked: 'healthy', restarts: { attempts: 0, pending: false, unhealthyThreshold: 7 } });
  t.match(looks.probed.at(-1), { processName: 'Finder', pid, health: 'healthy' });
});
