// A service that answers below a base path of its own settings file is probed there, not at the root.
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { HealthAddress, ProcessProbe } from '../../../plugins/health-probe/contract.ts';
import { probeOf } from '../../../plugins/services/template-probe.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['config-files', 'format-xml', 'health-probe'].every(name => existsSync(path.join(pluginsDir, name)));
/** Tells in its components what it was asked for. */
const SERVER = `const asked = new Map();
require('node:http').createServer((request, response) => {
  asked.set(request.url, 'up');
  if (request.url === '/tv/ping')
    response.end(JSON.stringify({ status: 'OK', components: Object.fromEntries(asked) }));
  else response.writeHead(307, { location: '/tv' + request.url }).end();
}).listen(process.env.OWN_PORT, '127.0.0.1')`;

t.test('the base path of the settings file counts', { skip }, async t => {
  const port = await freePort();
  const app = await startHost({
    plugins: ['config', 'config-files', 'format-xml', 'health-probe', 'process', 'services'],
  });
  t.teardown(() => app.stop());
  const directory = path.join(app.configDir, 'tv');
  await mkdir(directory);
  // The service's user must reach its own directory.
  await chmod(app.configDir, 0o711);
  const file = path.join(directory, 'config.xml');
  await writeFile(file, '<Config>\n  <UrlBase>/tv/</UrlBase>\n</Config>\n');
  const block = {
    enabled: true,
    process_name: 'Sonarr',
    command: [process.execPath, '-e', SERVER],
    env: { OWN_PORT: String(port) },
    port,
    config_dir: directory,
    config_file: file,
    suppress_logging: true,
  };
  const saved = await app.post('/config', { updates: { sonarr: { instances: { Default: block } } } });
  t.equal(saved.status, 200, saved.text);
  const started = await start(app, 'Sonarr');
  t.equal(started.status, 200, started.text);
  const healthy = await until(
    async () => {
      const answer = await status(app, 'Sonarr');
      return answer.health_details?.http_status !== undefined && answer;
    },
    { what: 'an answer to the probe' },
  );
  t.match(healthy, { health_status: 'healthy', health_details: { endpoint: '/tv/ping', http_status: 200 } });
  // It goes on with the base that it was started with, whatever its file says since.
  for (const base of ['', '/films']) {
    await writeFile(file, `<Config>\n  <UrlBase>${base}</UrlBase>\n</Config>\n`);
    const asked = await until(
      async () => {
        const answer = await status(app, 'Sonarr');
        const { components = [], endpoint } = answer.health_details;
        const names = [...components.map(({ name }: { name: string }) => name), endpoint];
        return names.includes(`${base}/ping`) && answer;
      },
      { what: `a probe below '${base}'` },
    );
    t.match(asked, { health_status: 'healthy', health_details: { endpoint: '/tv/ping' } });
  }
});

t.test('a base path that the running service does not have yet', async t => {
  const files = { values: async () => ({ Config: { UrlBase: '/tv' } }) };
  const template = { key: 'sonarr', health: { path: '/ping', portKey: 'port', baseInFile: 'Config.UrlBase' } };
  const probe = probeOf(template as never, { find: () => files } as never) as Extract<ProcessProbe, { check: unknown }>;
  /** What the probe reports of a service that answers and redirects as given, and what it has asked. */
  const probed = async (answers: Readonly<Record<string, string>>, location?: string) => {
    const asked: string[] = [];
    const ask = async ({ path: place }: HealthAddress) => {
      asked.push(place);
      return { status: answers[place], healthy: true, reason: null, details: { endpoint: place, location } } as never;
    };
    return [(await probe.check({ block: { port: 1 } } as never, ask))?.details?.endpoint, ...asked];
  };
  t.same(await probed({ '/tv/ping': 'healthy' }), ['/tv/ping', '/tv/ping']);
  t.same(await probed({ '/tv/ping': 'degraded', '/ping': 'healthy' }), ['/ping', '/tv/ping', '/ping']);
  t.same(await probed({ '/tv/ping': 'degraded', '/ping': 'degraded' }), ['/tv/ping', '/tv/ping', '/ping']);
  t.same(
    await probed({ '/tv/ping': 'degraded', '/ping': 'degraded', '/films/ping': 'healthy' }, '/films/ping'),
    ['/films/ping', '/tv/ping', '/ping', '/films/ping'],
    'one that was changed',
  );
  t.same(
    await probed({ '/tv/ping': 'degraded', '/ping': 'degraded' }, '/login'),
    ['/tv/ping', '/tv/ping', '/ping'],
    'a page to log in says nothing',
  );
  t.same(await probed({ '/tv/ping': 'unhealthy' }), ['/tv/ping', '/tv/ping'], 'no second wait for one that is silent');
});

t.test('a base path that holds half a character', async t => {
  const files = { values: async () => ({ Config: { UrlBase: '/tv\ud800' } }) };
  const template = { key: 'sonarr', health: { path: '/ping', portKey: 'port', baseInFile: 'Config.UrlBase' } };
  const probe = probeOf(template as never, { find: () => files } as never) as Extract<ProcessProbe, { check: unknown }>;
  const ask = async ({ path: place }: HealthAddress) => ({ status: 'healthy', details: { endpoint: place } }) as never;
  const report = await probe.check({ block: { port: 1 } } as never, ask);
  t.same(report?.details, { endpoint: '/tv%EF%BF%BD/ping' });
});
