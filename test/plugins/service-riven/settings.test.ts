// The settings of a running Riven follow its variables, and its frontend gets its address.
import { existsSync } from 'node:fs';
import { chmod, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-riven', 'integrations', 'setup', 'services', 'format-json'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

/** Answers as the application does; an old release knows only the list form. Usage: PORT KEY FILE new|old */
const APP = `
const { createServer } = require('http'), { writeFileSync } = require('fs')
const [port, key, file, age] = process.argv.slice(2)
let settings = { version: '0.20', updaters: { plex: { enabled: true, url: 'http://kept' } },
  downloaders: { real_debrid: { enabled: false, api_key: '' } }, filesystem: { cache_mb: 10, kept_gb: 5 }, symlink: { rclone_path: '/mnt/old' } }
createServer((request, answer) => {
  let body = ''
  request.on('data', part => { body += part }).on('end', () => {
    const end = (status, value) => answer.writeHead(status).end(JSON.stringify(value))
    if (request.headers['x-api-key'] !== key) return end(401, {})
    const form = request.url.replace('/api/v1/settings/', '')
    if (form === 'get/all') return end(200, settings)
    if (form === 'set/all' && age === 'new') settings = JSON.parse(body)
    else if (form === 'set') for (const { key, value } of JSON.parse(body)) {
      const names = key.split('.'), last = names.pop()
      names.reduce((tree, name) => tree[name], settings)[last] = value
    }
    else if (form === 'save') {}
    else return end(405, {})
    writeFileSync(file, JSON.stringify({ form, settings }))
    end(200, {})
  })
}).listen(Number(port), '127.0.0.1')`;

for (const age of ['new', 'old'] as const) {
  t.test(`settings reach a release with the ${age} form of the API`, { skip }, async t => {
    const dir = testDir(t, {
      'package.json': '{}',
      'app.cjs': APP,
      'settings.json': '{"api_key":"the-key"}',
      front: {},
    });
    for (const place of [dir, path.join(dir, 'front')]) await chmod(place, 0o777);
    const told = path.join(dir, 'told');
    const port = await freePort();
    const app = await startHost({
      plugins: [
        'config',
        'process',
        'health-probe',
        'services',
        'setup',
        'service-riven',
        'integrations',
        'config-files',
        'format-json',
      ],
      config: {
        data_root: dir,
        dumb: { plex_address: 'http://plex:1', integrations: { retry_seconds: 0.2 } },
        riven_backend: {
          process_name: 'Riven',
          port,
          config_dir: dir,
          config_file: path.join(dir, 'settings.json'),
          log_file: path.join(dir, 'riven.log'),
          symlink_library_path: path.join(dir, 'library'),
          wait_for_dir: '',
          command: [process.execPath, path.join(dir, 'app.cjs'), String(port), 'the-key', told, age],
          env: {
            RIVEN_DOWNLOADERS_REAL_DEBRID_API_KEY: 'debrid',
            RIVEN_DOWNLOADERS_REAL_DEBRID_ENABLED: 'True',
            RIVEN_UPDATERS_PLEX_ENABLED: 'perhaps',
            RIVEN_FILESYSTEM_CACHE_MB: '64',
            RIVEN_FILESYSTEM_KEPT_GB: 'many',
            RIVEN_NO_SUCH: 'x',
          },
        },
        riven_frontend: {
          process_name: 'Front',
          port: await freePort(),
          config_dir: path.join(dir, 'front'),
          command: ['sleep', '600'],
        },
      },
    });
    t.teardown(() => app.stop());
    const answer = await start(app, 'Riven');
    t.equal(answer.status, 200, answer.text);
    const { form, settings } = await until(async () => JSON.parse(await readFile(told, 'utf8')), {
      what: 'the settings',
    });
    t.ok(age === 'new' ? form === 'set/all' : ['set', 'save'].includes(form), form);
    t.same(settings, {
      version: '0.20',
      updaters: { plex: { enabled: true, url: 'http://plex:1' } },
      downloaders: { real_debrid: { enabled: true, api_key: 'debrid' } },
      filesystem: { cache_mb: 64, kept_gb: 5 },
      symlink: { rclone_path: '/mnt/old' },
    });
    const server = { backendUrl: `http://127.0.0.1:${port}`, apiKey: 'the-key' };
    const own = path.join(app.configDir, 'server.json');
    t.same(await until(async () => JSON.parse(await readFile(own, 'utf8'))), server);
    t.equal((await stat(own)).mode & 0o077, 0, 'nobody else reads the key');

    t.equal((await start(app, 'Front')).status, 200);
    t.same(JSON.parse(await readFile(path.join(dir, 'front/config/server.json'), 'utf8')), server);
  });
}

t.test('the address can be connected to', { skip }, async t => {
  const { serverOf } = await import(path.join(pluginsDir, 'service-riven', 'server.ts'));
  const files = { values: async () => ({ api_key: 'the-key' }) };
  const addressAt = async (host: string) => {
    const backend = { processName: 'Riven', block: { port: 8_080, host } };
    return (await serverOf({ find: () => files }, backend))?.address;
  };
  t.equal(await addressAt('::'), 'http://127.0.0.1:8080');
  t.equal(await addressAt('::1'), 'http://[::1]:8080');
});
