// What services of a kind wait for at a boot: provided mounts, and answers of other services. Started by hand, they do
// not wait.
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['waits', 'services'].every(name => existsSync(path.join(pluginsDir, name)));

t.test('a boot waits for mounts and addresses', { skip }, async t => {
  const dir = testDir(t, {});
  const [silent, unused] = [await freePort(), await freePort()];
  const block = (name: string, more: object) => ({
    enabled: true,
    process_name: name,
    config_dir: dir,
    command: ['sleep', '600'],
    ...more,
  });
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'waits'],
    config: {
      dumb: { startup: { stabilization_seconds: 0 } },
      plex: block('Library', { port: silent }),
      tautulli: block('Watcher', { port: unused }),
      decypharr: block('Bridge', { mount_type: 'dfs', mount_path: path.join(dir, 'provided') }),
      rclone: { instances: { One: block('Mount', { mount_dir: path.join(dir, 'mnt'), mount_name: 'one' }) } },
    },
  });
  t.teardown(() => app.stop());
  const reasonOf = async (name: string): Promise<string> => (await status(app, name)).health_reason ?? '';
  await until(async () => (await reasonOf('Library')).includes(path.join(dir, 'provided')), {
    what: 'the first mount',
  });
  await until(async () => (await reasonOf('Watcher')).includes(`http://127.0.0.1:${silent}/identity`));
  await until(async () => (await status(app, 'Bridge')).status === 'running', { what: 'one that waits for nobody' });

  await app.post('/process/stop-service', { process_name: 'Watcher' });
  const answer = await start(app, 'Watcher');
  t.match(answer, { status: 200, body: { status: 'started' } }, 'a start by hand does not wait');
});

t.test('a boot waits for the address that people have set', { skip }, async t => {
  const dir = testDir(t, {});
  const [silent, own] = [await freePort(), await freePort()];
  const block = (name: string, more: object) => ({
    enabled: true,
    process_name: name,
    config_dir: dir,
    command: ['sleep', '600'],
    ...more,
  });
  for (const [address, asked] of [
    [`http://127.0.0.2:${silent}/`, `http://127.0.0.2:${silent}/identity`],
    ['library.local', `http://127.0.0.1:${own}/identity`],
  ]) {
    const app = await startHost({
      plugins: ['config', 'process', 'services', 'waits'],
      config: {
        dumb: { startup: { stabilization_seconds: 0 }, plex_address: address },
        plex: block('Library', { port: own, wait_for_mounts: [] }),
        tautulli: block('Watcher', { port: await freePort() }),
      },
    });
    t.teardown(() => app.stop());
    const reasonOf = async (name: string): Promise<string> => (await status(app, name)).health_reason ?? '';
    await until(async () => (await reasonOf('Watcher')).includes(`${asked}`), { what: `${asked}` });
    await app.stop();
  }
});

t.test('a boot waits for an answer with the needed content', { skip }, async t => {
  const dir = testDir(t, {});
  const block = (name: string, more: object) => ({
    enabled: true,
    process_name: name,
    config_dir: dir,
    command: ['sleep', '600'],
    ...more,
  });
  let [routes, asked] = ['<html>log in first</html>', 0];
  const port = await freePort();
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'waits'],
    pace: 0.02,
    config: {
      dumb: { startup: { stabilization_seconds: 0 } },
      traefik_proxy_admin: block('Admin', { port, wait_for_tcp: [] }),
      traefik: block('Proxy', { port: await freePort() }),
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Admin')).status === 'running');
  const server = createServer((request, answer) => {
    if (request.url?.startsWith('/api/traefik/config') === true) asked++;
    answer.end(routes);
  }).listen(port, '127.0.0.1');
  t.teardown(() => server.close());
  await until(() => asked > 1, { what: 'the routes to be asked for' });
  t.equal((await status(app, 'Proxy')).status, 'starting', 'a page is no list of routes');
  routes = '{"http":{}}';
  await until(async () => (await status(app, 'Proxy')).status === 'running');
});
