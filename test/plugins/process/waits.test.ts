// What a start waits for: directories, mounts, ports and addresses, until they are there or the time is over.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { recordEvents } from '../../support/events.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);

const waiter = (processName: string, waits: object) => ({
  enabled: false,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...waits,
});

const untilWaits = (app: TestHost, name: string, what: string) =>
  until(async () => (await status(app, name)).health_reason === `Waiting for ${what}`, {
    what: `${name} to wait for ${what}`,
  });

async function listen(t: Test, handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

t.test('directories and ports, in that order', async t => {
  const dir = t.testdir({ there: '' });
  const later = path.join(dir, 'later');
  const port = await freePort();
  const app = await startHost({
    config: {
      one: waiter('One', {
        wait_for_tcp: [{ name: 'the database', port }],
        wait_for_dir: [path.join(dir, 'there'), { path: later }],
      }),
      two: waiter('Two', { wait_for_tcp: { host: '127.0.0.1', port, timeout: 1 } }),
    },
  });
  t.teardown(() => app.stop());
  const starting = Promise.all([start(app, 'One'), start(app, 'Two')]);
  await Promise.all([untilWaits(app, 'One', `directory ${later}`), untilWaits(app, 'Two', `127.0.0.1:${port}`)]);
  await mkdir(later);
  await untilWaits(app, 'One', 'the database');
  const server = createTcpServer(socket => socket.destroy());
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.match(await starting, [{ status: 200 }, { status: 200 }]);
  t.match(await status(app, 'One'), { status: 'running' });
});

t.test('mounts', { skip: process.getuid?.() === 0 ? false : 'mounting needs root' }, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-mount-'));
  const point = path.join(dir, 'a mount \\ point');
  await mkdir(point);
  t.teardown(async () => {
    await run('umount', ['-l', point]);
    await rm(dir, { recursive: true });
  });
  const app = await startHost({
    config: {
      one: waiter('One', { wait_for_mounts: [`${point}/`, '/proc'] }),
      root: waiter('Root', { wait_for_mounts: ['/'] }),
    },
  });
  t.teardown(() => app.stop());
  const starting = start(app, 'One');
  t.equal((await start(app, 'Root')).status, 200);
  await untilWaits(app, 'One', `mount ${point}/`);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', point]);
  t.equal((await starting).status, 200);
});

t.test('addresses', async t => {
  const asked: Record<string, { method: string | undefined; headers: IncomingMessage['headers'] }> = {};
  const hops = (count: number) => Array.from({ length: count }, (_, index) => `/hops-${count}/${index}`);
  const base = await listen(t, (request, response) => {
    const { url = '', method, headers } = request;
    asked[url] = { method, headers };
    const hop = /^\/hops-(\d)\/(\d)$/.exec(url);
    if (hop !== null && Number(hop[2]) < Number(hop[1])) {
      response.writeHead(302, { location: `/hops-${hop[1]}/${Number(hop[2]) + 1}` }).end();
    } else if (url === '/auth' && headers.authorization !== `Basic ${Buffer.from('me:hunter2').toString('base64')}`) {
      response.writeHead(401).end();
    } else if (/dav/.test(url)) {
      response.writeHead(method === 'PROPFIND' ? 207 : 405).end('<multistatus/>');
    } else if (url === '/json') response.end('{"a":{"b":{"c":null}}}');
    else if (url === '/text') response.end('ok');
    else if (url === '/head') response.writeHead(method === 'POST' && headers['x-key'] === 'k' ? 204 : 400).end();
    else if (url === '/unready') response.writeHead(503).end();
    else if (url !== '/silent') response.end('{}');
  });
  const ready: Record<string, object | string> = {
    text: `${base}/text`,
    redirected: { url: `${base}/hops-5/0` },
    auth: { url: `${base}/auth`, auth: { user: 'me', password: 'hunter2' } },
    dav: { url: `${base}/dav/files` },
    webdav: `${base}/remote/webdav`,
    json: { url: `${base}/json`, expected_json_path: 'a.b.c' },
    method: { url: `${base}/head`, probe_method: 'POST', probe_headers: { 'x-key': 'k' } },
  };
  const unready: Record<string, object | string> = {
    'redirected-too-often': { url: `${base}/hops-6/0` },
    'wrong-password': { url: `${base}/auth`, auth: { user: 'me', password: 'wrong' } },
    'no-password': `${base}/auth`,
    'davenport-is-not-dav': `${base}/davenport`,
    'json-path': { url: `${base}/json`, expected_json_path: 'a.b.d' },
    'not-json': { url: `${base}/text`, expected_json_path: 'a' },
    unavailable: `${base}/unready`,
    silent: { url: `${base}/silent`, timeout: 0.2 },
  };
  const app = await startHost({
    config: {
      ...Object.fromEntries(Object.entries(ready).map(([name, url]) => [name, waiter(name, { wait_for_url: url })])),
      all: waiter('all', { wait_for_url: Object.values(ready) }),
      ...Object.fromEntries(
        Object.entries(unready).map(([name, url]) => [
          name,
          waiter(name, { wait_for_url: [url], wait_timeout_seconds: 0 }),
        ]),
      ),
    },
  });
  t.teardown(() => app.stop());
  const well = [...Object.keys(ready), 'all'];
  const unwell = Object.keys(unready);
  const [started, refused] = await Promise.all([
    Promise.all(well.map(name => start(app, name))),
    Promise.all(unwell.map(name => start(app, name))),
  ]);
  for (const [index, name] of well.entries()) t.equal(started[index]?.status, 200, name);
  for (const [index, name] of unwell.entries()) {
    t.equal(refused[index]?.status, 500, name);
    t.match(refused[index]?.body.detail, /^.+ was not started: http:\/\/.+ did not become available within 0 s$/);
    t.notMatch(refused[index]?.text, /hunter2/);
  }
  t.match(asked['/dav/files'], { method: 'PROPFIND', headers: { depth: '0' } });
  t.match(asked['/remote/webdav'], { method: 'PROPFIND' });
  t.match(asked['/davenport'], { method: 'GET' });
  t.match(asked['/text'], { method: 'GET' });
  t.ok(hops(5).every(hop => hop in asked));
});

t.test('each address has its own time, and the first look is at once', async t => {
  let firstAsked = 0;
  const base = await listen(t, (request, response) => {
    if (request.url === '/first') response.writeHead(firstAsked++ === 0 ? 503 : 200).end();
    else response.writeHead(503).end();
  });
  const recorder = await recordEvents(t);
  const app = await startHost({
    pluginDirs: recorder.pluginDirs,
    config: {
      slow: waiter('Slow', { wait_for_url: [`${base}/first`, `${base}/second`], wait_timeout_seconds: 1 }),
    },
  });
  t.teardown(() => app.stop());
  const starting = start(app, 'Slow');
  await untilWaits(app, 'Slow', `${base}/first`);
  // The first one takes its whole second; the second one is waited for all the same.
  await untilWaits(app, 'Slow', `${base}/second`);
  t.match(await starting, {
    status: 500,
    body: { detail: `Slow was not started: ${base}/second did not become available within 1 s` },
  });
  t.equal(recorder.count('service.start.failed', 'Slow'), 1);
  t.match(await status(app, 'Slow'), {
    status: 'stopped',
    health_status: 'unhealthy',
    restart: { last_failure_reason: /did not become available/ },
  });
});

t.test('a stop ends every kind of wait, also a question that nobody answers', async t => {
  let silent = 0;
  const base = await listen(t, () => {
    silent += 1;
  });
  const nobody = await freePort();
  const recorder = await recordEvents(t);
  const app = await startHost({
    pluginDirs: recorder.pluginDirs,
    config: {
      dir: waiter('Dir', { wait_for_dir: '/nowhere/at/all' }),
      mount: waiter('Mount', { wait_for_mounts: ['/nowhere/at/all'] }),
      tcp: waiter('Tcp', { wait_for_tcp: { port: nobody } }),
      url: waiter('Url', { wait_for_url: { url: base, timeout: 600 } }),
    },
  });
  t.teardown(() => app.stop());
  const names = ['Dir', 'Mount', 'Tcp', 'Url'];
  const starting = names.map(name => start(app, name));
  await until(() => silent > 0);
  await untilWaits(app, 'Dir', 'directory /nowhere/at/all');
  await untilWaits(app, 'Mount', 'mount /nowhere/at/all');
  await untilWaits(app, 'Tcp', `127.0.0.1:${nobody}`);
  for (const name of names) {
    t.match(await stop(app, name), { status: 200, body: { status: 'Service stopped successfully' } }, name);
  }
  for (const [index, answer] of (await Promise.all(starting)).entries()) {
    t.match(answer, { status: 409, body: { detail: `Start of ${names[index]} was cancelled` } });
    t.match(await status(app, String(names[index])), { status: 'stopped', healthy: null, health_status: null });
  }
  t.same(
    recorder.events.filter(({ type }) => type === 'service.start.failed'),
    [],
    'a cancelled start has not failed',
  );
});
