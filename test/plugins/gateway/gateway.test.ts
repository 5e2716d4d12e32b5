// The gateway: the API below /api on a listener of its own, with its refusals and the files of its frontend.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import type { Listener } from '../../../core/contract/route.ts';
import { runCommand } from '../../support/command.ts';
import { testDir } from '../../support/directory.ts';
import { openEntrance, type TestEntrance } from '../../support/entrance.ts';
import { until } from '../../support/until.ts';

const folder = new URL('../../../plugins/gateway/', import.meta.url);
const isHere = existsSync(new URL('index.ts', folder));

interface Gated {
  readonly native: TestEntrance;
  readonly listener: Listener;
  get(path: string, headers?: Record<string, string>): Promise<{ status: number; headers: Headers; text: string }>;
  send(method: string, path: string, headers?: Record<string, string>): Promise<number>;
}

async function open(t: Test, staticDir = '', forwards: (url: string) => boolean = () => false): Promise<Gated> {
  const { createGateway } = (await import(
    new URL('gateway.ts', folder).href
  )) as typeof import('../../../plugins/gateway/gateway.ts');
  const native = await openEntrance(t.testdirName);
  t.teardown(() => native.close());
  const embedded = {
    handleRequest: () => false,
    handleUpgrade(request: IncomingMessage, socket: Duplex): boolean {
      if (!forwards(request.url ?? '')) return false;
      socket.end('HTTP/1.1 418 Forwarded\r\n\r\n');
      return true;
    },
  };
  const gateway = createGateway({
    entrance: native.http,
    embedded,
    staticDir,
    refusal: () => null,
    nativeUrl: 'http://127.0.0.1:8000',
  });
  const listener = await native.http.open({ host: '127.0.0.1', port: 0, ...gateway });
  t.teardown(() => listener.close(0));
  const base = `http://127.0.0.1:${listener.port}`;
  return {
    native,
    listener,
    async get(path, headers = {}) {
      const answer = await fetch(base + path, { headers, redirect: 'manual' });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    },
    async send(method, path, headers = {}) {
      const answer = await fetch(base + path, { method, headers });
      await answer.text();
      return answer.status;
    },
  };
}

t.test('the API is served below /api', { skip: !isHere }, async t => {
  testDir(t);
  const { native, get, send } = await open(t);
  const echo = ({ query }: { query: unknown }) => query ?? 'root';
  const { z } = await import('zod');
  const query = z.object({ a: z.string() }).optional();
  native.http.addRoute('a', { method: 'GET', path: '/', summary: '/', handle: echo });
  native.http.addRoute('a', { method: 'GET', path: '/api', summary: '/api', handle: () => 'inner' });
  native.http.addRoute('a', { method: 'GET', path: '/config', summary: 'c', query, handle: echo });
  native.http.addRoute('a', { method: 'POST', path: '/config', summary: 'c', handle: () => 'posted' });
  native.http.addRoute('a', { method: 'GET', path: '/docs', summary: 'd', nativeOnly: true, handle: () => 'docs' });

  t.equal((await get('/api')).text, '"root"');
  t.equal((await get('/api/')).text, '"root"');
  t.equal((await get('/api/api')).text, '"inner"', 'one prefix is removed');
  t.equal((await get('/api/config/?a=x+y')).text, '{"a":"x y"}');
  t.equal((await get('/apiconfig?a=1')).status, 404, 'only at a segment boundary');
  t.equal((await get('/config?a=1')).status, 404, 'not without the prefix');
  t.equal((await get('/api/docs')).status, 404, 'native pages stay native');
  t.equal((await native.request('GET', '/docs')).body, 'docs');
  t.equal((await get('/api/config?a=1')).headers.get('x-robots-tag'), 'noindex, nofollow');
  t.equal((await get('/api/unknown')).status, 404);
  t.equal(await send('POST', '/api/config'), 200);
  t.equal(await send('POST', '/other'), 404);
});

t.test('pages of other origins are refused', { skip: !isHere }, async t => {
  testDir(t);
  const { native, listener, send, get } = await open(t);
  native.http.addRoute('a', { method: 'POST', path: '/x', summary: 'x', handle: () => 1 });
  native.http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 1 });
  native.http.addStream('a', { path: '/ws/x', summary: 'x', open: client => void client.send('hello') });
  const own = `http://127.0.0.1:${listener.port}`;
  const dial = (path: string, headers: Record<string, string> = {}) =>
    new Promise<string>((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${listener.port}${path}`, { headers });
      socket.once('error', reject);
      socket.once('message', data => {
        resolve(String(data));
        socket.close();
      });
    });
  t.equal(await send('POST', '/api/x', { Origin: own }), 200);
  for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1', 'nonsense']) {
    t.equal(await send('POST', '/api/x', { Origin: origin }), 403, origin);
    await t.rejects(dial('/ws/x', { Origin: origin }), /403/, `socket of ${origin}`);
  }
  t.equal(await send('POST', '/api/x', { Origin: 'http://localhost' }), 200, 'an allowed origin');
  const sameHosts = [
    ['https://media.local', 'media.local:443'],
    ['http://media.local', 'Media.local:80'],
  ] as const;
  for (const [origin, host] of sameHosts)
    t.equal(await dial('/ws/x', { Origin: origin, Host: host }), 'hello', `${origin} is at ${host}`);
  const otherHosts = [
    ['https://media.local', 'media.local:80'],
    ['https://media.local:444', 'media.local:443'],
    ['https://media.local:44', 'media.local:44:443'],
  ] as const;
  for (const [origin, host] of otherHosts)
    await t.rejects(dial('/ws/x', { Origin: origin, Host: host }), /403/, `${origin} is not at ${host}`);
  t.equal((await get('/api/x', { Origin: 'http://evil.example' })).status, 200, 'reading is not acting');
  t.equal(await dial('/ws/x'), 'hello');
  t.equal(await dial('/ws/x?a=1', { Origin: own }), 'hello');
  await t.rejects(dial('/ws/unknown'), /404/);
  await t.rejects(dial('/api/ws/x'), /404/);
  await t.rejects(dial('/'), /404/);
});

t.test('streams of the host come before any interface', { skip: !isHere }, async t => {
  testDir(t);
  const { native, listener } = await open(t, '', () => true);
  native.http.addStream('a', { path: '/ws/own', summary: 'x', open: client => void client.send('hello') });
  const dial = async (path: string) => once(new WebSocket(`ws://127.0.0.1:${listener.port}${path}`), 'message');
  const [data] = await dial('/ws/own?token=x');
  t.equal(String(data), 'hello', 'that of any plugin');
  await t.rejects(dial('/ws/logs'), /404/, 'also while the plugin of one is away');
  await t.rejects(dial('/ws/app'), /418/);
});

t.test('without a frontend the root links to the documentation', { skip: !isHere }, async t => {
  testDir(t);
  const { get, send } = await open(t);
  const page = await get('/', { Accept: 'text/html' });
  t.equal(page.status, 200);
  t.match(JSON.parse((await get('/')).text), { name: 'Stackwarden', api: '/api', documentation: /:8000\/docs$/ });
  t.match(page.text, /href="http:\/\/127\.0\.0\.1:8000\/docs"/);
  t.equal((await get('/anything', { Accept: 'text/html' })).status, 404);
  t.equal(await send('HEAD', '/'), 200);
  t.equal(await send('OPTIONS', '/'), 204);
});

t.test('a frontend of files is served, and nothing outside of its folder', { skip: !isHere }, async t => {
  const dir = testDir(t, {
    secret: 'secret',
    console: { 'index.html': '<h1>', 'app.js': 'run()', 'empty.txt': '', sub: { 'index.html': 'sub', 'a b.css': 'x' } },
    console2: { 'x.txt': 'sibling' },
  });
  await symlink(path.join(dir, 'secret'), path.join(dir, 'console', 'leak'));
  await symlink('app.js', path.join(dir, 'console', 'alias.js'));
  const { get, send } = await open(t, path.join(dir, 'console'));
  const html = { Accept: 'text/html,*/*' };
  t.match(await get('/'), { status: 200, text: '<h1>' });
  const script = await get('/app.js?v=1');
  t.match([script.text, script.headers.get('content-type')], ['run()', 'text/javascript; charset=utf-8']);
  t.equal(script.headers.get('x-robots-tag'), 'noindex, nofollow');
  t.equal(script.headers.get('x-content-type-options'), 'nosniff');
  t.equal((await get('/alias.js')).text, 'run()', 'a link that stays inside');
  t.equal((await get('/sub/a%20b.css')).text, 'x');
  t.match(await get('/empty.txt'), { status: 200, text: '' });
  t.match(
    await get('/services/Some%20Name', html),
    { status: 200, text: '<h1>' },
    'unknown pages belong to the frontend',
  );
  t.equal((await get('/missing.js')).status, 404, 'unknown files do not');
  t.equal((await get('/sub')).status, 404, 'no folder listing');
  for (const hostile of ['/leak', '/..%2fsecret', '/%2e%2e/secret', '/..%2fconsole2/x.txt', '/%00', '/%zz', '/%ff']) {
    const answer = await get(hostile);
    t.equal(answer.status, 404, hostile);
    t.notMatch(answer.text, /secret|sibling/);
  }
  t.equal((await get('/leak', html)).text, '<h1>');
  t.equal(await send('HEAD', '/app.js'), 200);
  await writeFile(path.join(dir, 'console', 'app.js'), 'changed()');
  t.equal((await get('/app.js')).text, 'changed()');

  const tag = String((await get('/app.js')).headers.get('etag'));
  const known = { 'If-None-Match': `"other", ${tag}` };
  t.match(await get('/app.js', known), { status: 304, text: '' }, 'a browser that has the file gets it once');
  t.equal(await send('HEAD', '/app.js', known), 304);
  t.match(await get('/sub/index.html', known), { status: 200, text: 'sub' });
  const { atime, mtime } = await stat(path.join(dir, 'console', 'app.js'));
  await writeFile(path.join(dir, 'console', 'next.js'), 'release()');
  await utimes(path.join(dir, 'console', 'next.js'), atime, mtime);
  await rename(path.join(dir, 'console', 'next.js'), path.join(dir, 'console', 'app.js'));
  t.match(await get('/app.js', known), { status: 200, text: 'release()' }, 'also where size and time are the same');
});

t.test('a file that shrinks while it is sent cuts the connection', { skip: !isHere }, async t => {
  const dir = testDir(t, { 'index.html': '<h1>', 'large.bin': '' });
  const file = path.join(dir, 'large.bin');
  // More than the system holds for a client that does not read.
  const sizeBytes = 256 * 1024 * 1024;
  await truncate(file, sizeBytes);
  const { listener } = await open(t, dir);
  const socket = connect(listener.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const asked = ['/large.bin', '/index.html'].map(name => `GET ${name} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  socket.write(asked.join(''));
  const [beginning] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  t.match(beginning.toString('latin1'), `Content-Length: ${sizeBytes}`);
  await truncate(file, sizeBytes / 2);
  let isNextSent = false;
  socket.on('data', (chunk: Buffer) => {
    isNextSent = chunk.includes('<h1>');
    if (isNextSent) socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.resume();
  await once(socket, 'close');
  t.notOk(isNextSent, 'the next answer does not stand for the rest of the file');
});

t.test('the gateway runs in a host', { skip: !isHere }, async t => {
  const { startHost } = await import('../../support/host.ts');
  const logged = async (configDir: string, pattern: RegExp) => {
    const dir = path.join(configDir, 'log');
    const texts = await Promise.all((await readdir(dir)).map(name => readFile(path.join(dir, name), 'utf8')));
    return texts.join('').match(pattern);
  };
  const start = async (t: Test, dumb: Record<string, unknown>) => {
    const host = await startHost({ plugins: ['config', 'gateway'], config: { dumb } });
    t.teardown(() => host.stop());
    return host;
  };

  await t.test('the gateway serves on its port, and warns when everybody can reach it', async t => {
    const host = await start(t, { gateway: { enabled: true, host: '0.0.0.0', port: 0 } });
    const line = await until(() => logged(host.configDir, /gateway on http:\/\/0\.0\.0\.0:(\d+)/));
    t.equal((await fetch(`http://127.0.0.1:${line[1]}/`)).status, 200);
    t.equal((await fetch(`http://127.0.0.1:${line[1]}/api/unknown`)).status, 404);
    t.ok(await logged(host.configDir, /WARNING.*authentication is off/));
    await host.stop();
    await t.rejects(fetch(`http://127.0.0.1:${line[1]}/`), 'its listener ends with the host');
  });

  const hasIpv6 = Object.values(networkInterfaces()).some(known => known?.some(({ address }) => address === '::1'));
  await t.test('an address of IPv6 is told as URLs have it', { skip: !hasIpv6 }, async t => {
    const host = await startHost({
      plugins: ['config', 'gateway'],
      config: { dumb: { gateway: { enabled: true, host: '::1', port: 0 } } },
      listen: { host: '::1', port: 0 },
    });
    t.teardown(() => host.stop());
    for (const what of ['gateway on', 'answers on']) {
      const line = await until(() => logged(host.configDir, new RegExp(`${what} (http://\\S+)`)));
      t.equal(new URL(String(line[1])).hostname, '[::1]', line[0]);
    }
  });

  await t.test('a command with the address of the gateway is told the address of the API', async t => {
    const host = await startHost({
      plugins: ['config', 'process', 'health', 'gateway'],
      config: { dumb: { gateway: { enabled: true, port: 0 } } },
    });
    t.teardown(() => host.stop());
    const line = await until(() => logged(host.configDir, /gateway on (http:\/\/127\.0\.0\.1:\d+)/));
    const base = String(line[1]);
    for (const words of [['status'], ['stop', '--all'], ['health']]) {
      const stderr = `stackwarden: the gateway answers at ${base}, which has the API below /api; give --url ${base}/api\n`;
      t.match(await runCommand({ configDir: host.configDir, base }, ...words), { code: 1, stdout: '', stderr });
    }
    t.match(await runCommand({ configDir: host.configDir, base: `${base}/api` }, 'status'), {
      code: 0,
      stdout: /NAME/,
    });
  });

  await t.test('a folder without a frontend is logged, and a page says so', async t => {
    const host = await start(t, { gateway: { enabled: true, port: 0, static_dir: '/nowhere/front' } });
    const line = await until(() => logged(host.configDir, /gateway on http:\/\/127\.0\.0\.1:(\d+)/));
    const page = await fetch(`http://127.0.0.1:${line[1]}/`);
    t.equal(page.status, 200);
    t.match(await page.text(), /Stackwarden/);
    t.equal((await fetch(`http://127.0.0.1:${line[1]}/app.js`)).status, 404);
    const fault = `dumb.gateway.static_dir is not served: /nowhere/front holds no index.html; name the frontend's folder`;
    t.ok(await logged(host.configDir, new RegExp(`ERROR - gateway: ${fault}`)));
    t.same((await host.host.reviewConfig()).problems, [fault]);
  });

  await t.test('an address of another machine is logged with its key', async t => {
    const host = await start(t, { gateway: { enabled: true, host: '192.0.2.1', port: 0 } });
    const fault =
      /no gateway: Cannot listen on 192\.0\.2\.1:0: .*, and dumb\.gateway\.host and dumb\.gateway\.port choose/;
    t.ok(await until(() => logged(host.configDir, fault)));
  });

  await t.test('a taken port gives one warning, and the host goes on', async t => {
    const other = createServer();
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
    t.teardown(() => other.close());
    const { port } = other.address() as { port: number };
    const host = await start(t, { gateway: { enabled: true, port } });
    t.ok(
      await until(() =>
        logged(
          host.configDir,
          /WARNING.*no gateway: .*in use by \S+ \(pid \d+\).*again, and dumb\.gateway\.port chooses/,
        ),
      ),
    );
    t.equal((await host.get('/unknown')).status, 404);
    const both = { persist: false, updates: { dumb: { api_service: { port }, gateway: { host: '0.0.0.0' } } } };
    const shared = `dumb.gateway.port: ${port} is also dumb.api_service.port, so the gateway cannot listen; give it another`;
    t.same((await host.post('/config', both)).body.warnings, [shared]);
    // The change sets the gateway up again, and only then the line is logged.
    const told = await until(async () => {
      const { problems } = await host.host.reviewConfig();
      return problems.length > 0 && problems;
    });
    t.same(told, [shared], 'told by a check, too');
    await host.post('/config', {
      persist: false,
      updates: { dumb: { api_service: { port: 1 }, gateway: { host: '127.0.0.1' } } },
    });
    other.close();
    await until(async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null))?.ok, { what: 'its turn' });
  });
});
