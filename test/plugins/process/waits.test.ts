// What a start waits for: directories, mounts, ports and addresses, in that order, each with its own limit.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, start, status, stop } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process', 'health-probe', 'health', 'logs'];

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

async function serve(listener: RequestListener): Promise<{ server: Server; base: string }> {
  const server = createServer(listener);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { server, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

t.test('a start waits for a directory and a port', async t => {
  const dir = testDir(t, { programs: { test: '#!/bin/sh\necho > "$0.ran"\n' } });
  const programs = path.join(dir, 'programs');
  await chmod(path.join(programs, 'test'), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${programs}:${PATH}`;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  const wanted = path.join(dir, 'later');
  const port = await freePort();
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      kid: kid('Kid', ['calm'], { wait_for_dir: [{ path: wanted }], wait_for_tcp: { name: 'the database', port } }),
    },
  });
  t.teardown(() => app.stop());
  const started = start(app, 'Kid');
  const reason = async (text: string) => (await status(app, 'Kid')).health_reason?.includes(text);
  await until(() => reason(wanted), { what: 'the directory to be named' });
  await mkdir(wanted);
  await until(() => reason('the database'), { what: 'the port to be named' });
  const server = createTcpServer(socket => socket.destroy());
  server.listen(port, '127.0.0.1');
  t.teardown(() => server.close());
  t.equal((await started).status, 200);
  t.equal((await status(app, 'Kid')).status, 'running');
  t.same(await readdir(programs), ['test'], 'no program is run for a look');
});

t.test('a client is answered before a long wait is over, and the start goes on', async t => {
  const wanted = path.join(testDir(t), 'later');
  const app = await startHost({
    plugins: PLUGINS,
    // At this pace a limit of 300 s takes 1.5 s.
    pace: 0.005,
    config: { kid: kid('Kid', ['calm'], { wait_for_dir: wanted }) },
  });
  t.teardown(() => app.stop());
  const waiting = {
    status: 'Service start is waiting for dependencies',
    process_name: 'Kid',
    waiting_for: [new RegExp(wanted)],
  };
  t.match(await start(app, 'Kid'), { status: 200, body: waiting });
  const restarted = await app.post('/process/restart-service', { process_name: 'Kid' });
  t.match(restarted, { status: 200, body: waiting }, 'of a restart as well');
  await mkdir(wanted);
  await until(async () => (await status(app, 'Kid')).status === 'running');
});

t.test('a start goes on after its client has left', async t => {
  const later = path.join(testDir(t, {}), 'later');
  const app = await startHost({ plugins: PLUGINS, config: { kid: kid('Kid', ['calm'], { wait_for_dir: later }) } });
  t.teardown(() => app.stop());
  const client = request(`${app.base}/process/start-service`, { method: 'POST', agent: false });
  client.once('error', () => undefined);
  const left = new Promise(resolve => client.once('close', resolve));
  client.setHeader('content-type', 'application/json');
  client.end('{"process_name": "Kid"}');
  await until(async () => (await status(app, 'Kid')).status === 'starting');
  client.destroy();
  await left;
  await mkdir(later);
  t.ok(await until(async () => (await status(app, 'Kid')).status === 'running'));
});

t.test('a directory can be given as an object', async t => {
  const wanted = path.join(testDir(t), 'later');
  const app = await startHost({
    plugins: PLUGINS,
    config: { kid: kid('Kid', ['calm'], { wait_for_dir: { path: wanted } }) },
  });
  t.teardown(() => app.stop());
  const started = start(app, 'Kid');
  await until(async () => (await status(app, 'Kid')).health_reason?.includes(wanted));
  await mkdir(wanted);
  t.equal((await started).status, 200);
  const updates = { wait_for_dir: { path: `${wanted}/deeper` } };
  t.match(await app.post('/config', { process_name: 'Kid', updates }), { status: 200, body: { warnings: [] } });
});

t.test('a start waits for a mount, not for a dead one', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const [good, dead] = [path.join(dir, 'with a space'), path.join(dir, 'dead')];
  await Promise.all([mkdir(good), mkdir(dead)]);
  // Any process that examines this mount waits for a server that never answers.
  const holder = execFile('bash', [
    '-c',
    `exec 5<>/dev/fuse; mount -i -t fuse.test -o fd=5,rootmode=40000,user_id=0,group_id=0 dead '${dead}' && echo up && exec sleep 1000`,
  ]);
  await until(async () => (await run('cat', ['/proc/self/mountinfo'])).stdout.includes(dead));
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      kid: kid('Kid', ['calm'], { wait_for_mounts: [`${dir}//with a space/`, dead] }),
      stuck: kid('Stuck', ['calm'], { wait_for_dir: dead, wait_timeout_seconds: 1 }),
    },
  });
  t.teardown(async () => {
    await app.stop();
    holder.kill('SIGKILL');
    await run('umount', ['--lazy', dead]);
    await run('umount', ['--lazy', good]).catch(() => undefined);
    await rm(dir, { recursive: true });
  });
  const started = start(app, 'Kid');
  await until(async () => (await status(app, 'Kid')).status === 'starting');
  await run('mount', ['-t', 'tmpfs', 'tmpfs', good]);
  t.equal((await started).status, 200);
  const stuck = await start(app, 'Stuck');
  t.equal(stuck.status, 500, 'a directory on a dead mount is not there, and holds nobody up');
  t.match(stuck.body.detail, `Stuck was not started: directory ${dead} did not become available within 1 s`);
  t.equal((await app.get('/health')).status, 200);
});

t.test('a start waits for addresses', async t => {
  const seen: IncomingMessage[] = [];
  const { server, base } = await serve((request, response) => {
    seen.push(request);
    const authorized = request.headers.authorization === `Basic ${Buffer.from('me:secret').toString('base64')}`;
    if (request.url === '/dav/') response.writeHead(request.method === 'PROPFIND' ? 207 : 405).end();
    else if (request.url === '/private') response.writeHead(authorized ? 200 : 401).end();
    else if (request.url === '/json') response.end('{"data":{"ready":null}}');
    else if (request.url === '/hop') response.writeHead(302, { location: '/plain' }).end();
    else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else response.writeHead(request.url === '/plain' ? 204 : 404).end();
  });
  t.teardown(() => server.close());
  const waits = (name: string, entry: unknown) => kid(name, ['calm'], { wait_for_url: entry, wait_timeout_seconds: 1 });
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      text: waits('Text', `${base}/plain`),
      texts: waits('Texts', [`${base}/plain`, `${base}/hop`]),
      dav: waits('Dav', { url: `${base}/dav/` }),
      small: waits('Small', { url: `${base}/dav/`, probe_method: 'propfind' }),
      login: waits('Login', [{ url: `${base}/private`, auth: { user: 'me', password: 'secret' } }]),
      refused: waits('Refused', { url: `${base}/private` }),
      json: waits('Json', { url: `${base}/json`, expected_json_path: 'data.ready' }),
      other_json: waits('Other json', { url: `${base}/json`, expected_json_path: 'data.missing' }),
      loop: waits('Loop', { url: `${base}/loop` }),
      headers: waits('Headers', { url: `${base}/plain`, probe_method: 'HEAD', probe_headers: { 'x-test': 'yes' } }),
      own_limits: waits('Own limits', [`${base}/nothing`, `${base}/plain`]),
    },
  });
  t.teardown(() => app.stop());
  const names = [
    'Text',
    'Texts',
    'Dav',
    'Small',
    'Login',
    'Refused',
    'Json',
    'Other json',
    'Loop',
    'Headers',
    'Own limits',
  ];
  const answers = await Promise.all(names.map(async name => [name, (await start(app, name)).status]));
  t.same(Object.fromEntries(answers), {
    Text: 200,
    Texts: 200,
    Dav: 200,
    Small: 200,
    Login: 200,
    Refused: 500,
    Json: 200,
    'Other json': 500,
    Loop: 500,
    Headers: 200,
    'Own limits': 500,
  });
  t.same(
    new Set(seen.filter(request => request.url === '/dav/').map(request => request.headers.depth)),
    new Set(['0']),
  );
  t.ok(seen.some(request => request.method === 'HEAD' && request.headers['x-test'] === 'yes'));
  const log = (await app.get('/logs?process_name=DUMB&tail_bytes=1000000')).body.chunk;
  t.notMatch(log, 'secret');
});

t.test('credentials in an address', async t => {
  const { server, base } = await serve((request, response) => {
    const authorized = request.headers.authorization === `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    response.writeHead(authorized ? 200 : 401).end();
  });
  t.teardown(() => server.close());
  const waits = (name: string, entry: unknown) => kid(name, ['calm'], { wait_for_url: entry, wait_timeout_seconds: 1 });
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      inside: waits('Inside', base.replace('//', '//me:p%40ss@')),
      beside: waits('Beside', { url: base.replace('//', '//other:one@'), auth: { user: 'me', password: 'p@ss' } }),
    },
  });
  t.teardown(() => app.stop());
  for (const name of ['Inside', 'Beside']) t.match(await start(app, name), { status: 200 }, name);
});

t.test('an answer whose body never ends', async t => {
  let left: () => void = () => undefined;
  const isLeft = new Promise<void>(resolve => {
    left = resolve;
  });
  const { server, base } = await serve((_request, response) => response.on('close', left).write('data: 1\n\n'));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const app = await startHost({
    plugins: PLUGINS,
    config: { kid: kid('Kid', ['calm'], { wait_for_url: base, wait_timeout_seconds: 1 }) },
  });
  t.teardown(() => app.stop());
  t.match(await start(app, 'Kid'), { status: 200 });
  await isLeft;
});

t.test('a silent address takes no longer than the limit of the wait', async t => {
  const { server, base } = await serve(() => undefined);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      kid: kid('Kid', ['calm'], { wait_for_url: { url: base, timeout: 86_400 }, wait_timeout_seconds: 1 }),
    },
  });
  t.teardown(() => app.stop());
  const detail = `Kid was not started: ${base}/ did not become available within 1 s`;
  t.match(await start(app, 'Kid'), { status: 500, body: { detail } });
});

t.test('a stop ends the wait', async t => {
  const app = await startHost({
    plugins: PLUGINS,
    config: { kid: kid('Kid', ['calm'], { wait_for_dir: '/does/not/exist' }) },
  });
  t.teardown(() => app.stop());
  const started = start(app, 'Kid');
  await until(async () => (await status(app, 'Kid')).status === 'starting');
  t.equal((await stop(app, 'Kid')).status, 200);
  t.match(await started, { status: 409, body: { detail: 'Start of Kid was cancelled' } });
  t.equal((await status(app, 'Kid')).status, 'stopped');
});
