// Line 6, R33: descriptors that are used up, by idle, upgraded or forwarded connections, by a leak or by the host's own
// children: no service is taken for gone, what ends is noticed, health tells, and an orderly stop leaves nobody behind.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../support/directory.ts';
import { kid, lives } from '../support/kids.ts';
import { withNeeds } from '../support/needs.ts';
import {
  freePort,
  type RunningStackwarden,
  spawnStackwarden,
  startStackwarden,
  writeConfig,
} from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const LIMIT = 160;
const PLUGINS = ['config', 'process', 'health', 'health-probe', 'host-plugins'];
const NAMES = ['First', 'Second', 'Third'];

/** Takes every descriptor that is left; at /blind while its own folder changes, until the log tells of that. */
const leak = `
import { closeSync, openSync, utimesSync } from 'node:fs'
const held = []
const takeAll = taken => { try { for (;;) taken.push(openSync('/dev/null', 'r')) } catch {} }
export default { name: 'leak', host: '^1', setup (host) {
  host.route({ method: 'POST', path: '/leak', summary: 'takes all', handle () {
    try { for (;;) held.push(openSync('/dev/null', 'r')) } catch (error) { return { code: error.code } }
  } })
  host.route({ method: 'POST', path: '/blind', summary: 'changes a file meanwhile', async handle () {
    const taken = []
    const told = new Promise(resolve => host.use('log.hub').subscribe(lines => {
      if (lines.some(({ text }) => text.includes('the plugins stay as they are'))) resolve()
    }))
    const taking = setInterval(takeAll, 1, taken)
    takeAll(taken)
    utimesSync(new URL(import.meta.url), new Date(), new Date())
    await told
    clearInterval(taking)
    for (const descriptor of taken) closeSync(descriptor)
    return {}
  } })
} }`;

/** Answers at its root only. */
const silent = `
require('node:http').createServer((request, response) => {
  if (request.url === '/begun') response.write('hello')
  else if (request.url === '/') response.end('hello')
}).listen(Number(process.argv[1]), '127.0.0.1')`;

interface Limited {
  readonly host: RunningStackwarden;
  readonly base: string;
  readonly port: number;
  readonly pids: readonly number[];
}

async function json<Value>(base: string, url: string): Promise<Value> {
  const answer = await fetch(base + url, { headers: { connection: 'close' } });
  return (await answer.json()) as Value;
}

async function statuses(base: string): Promise<string[]> {
  type Entry = { readonly process_name: string; readonly status: string };
  const { processes } = await json<{ processes: Entry[] }>(base, '/process/processes');
  return NAMES.map(name => processes.find(entry => entry.process_name === name)?.status ?? 'missing');
}

const untilStatuses = (base: string, wanted: readonly string[]) =>
  until(async () => (await statuses(base)).join() === wanted.join(), { what: wanted.join() });

async function pidsOf(configDir: string): Promise<number[]> {
  const { processes } = JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'));
  return NAMES.map(name => processes[name]?.pid);
}

interface Extras {
  readonly limit?: number;
  readonly plugins?: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
}

/** A host with a low limit of descriptors and three services, which it has launched, or adopted from an earlier one. */
async function startLimited(
  t: Test,
  isAdopting: boolean,
  more: readonly string[] = [],
  { limit = LIMIT, plugins = [], config = {} }: Extras = {},
): Promise<Limited> {
  const configDir = testDir(t, { plugins: { leak: { 'index.js': leak } } });
  const sleeper = { command: ['sleep', '600'], stop_grace_seconds: 1 };
  const blocks = [
    ...NAMES.map(name => [name.toLowerCase(), kid(name, ['calm'], { enabled: true })]),
    ...more.map(name => [name.toLowerCase(), { ...kid(name, []), ...sleeper }]),
  ];
  const port = await writeConfig(configDir, { ...Object.fromEntries(blocks), ...config });
  const earlier = isAdopting ? await leaveServices(configDir, port) : undefined;
  const chosen = [...(await withNeeds([...PLUGINS, ...plugins])), 'leak'].join();
  const host = spawnStackwarden(configDir, { args: ['start', '--plugins', chosen] });
  execFileSync('prlimit', ['--pid', String(host.child.pid), `--nofile=${limit}:${limit}`]);
  const base = `http://127.0.0.1:${port}`;
  await untilStatuses(base, ['running', 'running', 'running']);
  const pids = await pidsOf(configDir);
  if (earlier !== undefined) t.same(pids, earlier, 'adopted');
  return { host, base, port, pids };
}

/** The services of a host that was killed. */
async function leaveServices(configDir: string, port: number): Promise<number[]> {
  const { child, base, exited } = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await untilStatuses(base, ['running', 'running', 'running']);
  child.kill('SIGKILL');
  await exited;
  return pidsOf(configDir);
}

/** What must hold while descriptors are scarce; ends the host. */
async function holds(t: Test, { host, base, pids }: Limited): Promise<void> {
  const [killed = 0, ...others] = pids;
  t.ok(pids.every(lives), 'every service lives');
  process.kill(killed, 'SIGKILL');
  await untilStatuses(base, ['stopped', 'running', 'running']);
  type Report = { readonly name: string; readonly state: string };
  const { plugins } = await json<{ plugins: Report[] }>(base, '/host/plugins');
  t.equal(plugins.find(({ name }) => name === 'process')?.state, 'ready');
  t.ok(others.every(lives));
  host.child.kill('SIGTERM');
  t.match(await host.exited, { code: 0 });
  t.notOk(others.some(lives), 'nobody is left behind');
}

t.test('idle connections', { timeout: 100_000 }, async t => {
  const limited = await startLimited(t, true);
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let count = 0; count < 2 * LIMIT; count += 1) {
    const socket = connect(limited.port, '127.0.0.1').on('error', () => undefined);
    // A third say nothing, a third stop within the headers, a third within a body.
    if (count % 3 === 1) socket.write('GET /health HTTP/1.1\r\nHost:');
    if (count % 3 === 2) socket.write('POST /auth/login HTTP/1.1\r\nHost: nas\r\nContent-Length: 100\r\n\r\n{');
    sockets.push(socket);
    await once(socket, 'connect');
  }
  t.match(await json(limited.base, '/health'), { status: 'healthy' }, 'none is missing for anything else');
  await holds(t, limited);
});

for (const [what, from, forwarded] of [
  ['connections that left HTTP', { flood: '127.0.0.2', other: '127.0.0.1' }, { flood: '', other: '' }],
  [
    'connections that left HTTP, of one client of a proxy',
    { flood: '127.0.0.9', other: '127.0.0.9' },
    { flood: 'X-Forwarded-For: 198.51.100.1\r\n', other: 'X-Forwarded-For: 203.0.113.1\r\n' },
  ],
] as const) {
  t.test(what, { timeout: 100_000 }, async t => {
    const limited = await startLimited(t, false, [], {
      config: { dumb: { api_service: { trusted_proxies: ['127.0.0.9'] } } },
    });
    const sockets: Socket[] = [];
    t.teardown(() => {
      for (const socket of sockets) socket.destroy();
    });
    const ask = (who: 'flood' | 'other', lines: string): Socket => {
      const socket = connect({ port: limited.port, host: '127.0.0.1', localAddress: from[who] });
      socket.on('error', () => undefined).resume();
      sockets.push(socket);
      socket.write(`${lines}Host: nas\r\n${forwarded[who]}\r\n`);
      return socket;
    };
    const upgrade =
      'GET /ws/status HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    for (let count = 0; count < LIMIT; count += 1) {
      const socket = ask('flood', upgrade);
      await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    }
    const held = sockets.filter(socket => !socket.closed).length;
    t.ok(held > LIMIT / 4, `one client holds ${held} connections`);
    const [told] = await once(ask('other', 'GET /health HTTP/1.1\r\nConnection: close\r\n'), 'data');
    t.match(String(told), /^HTTP\/1\.1 200 .*"status":"healthy"/s, 'another one is answered all the same');
    await holds(t, limited);
  });
}

t.test('requests to a service that stays silent', { timeout: 100_000 }, async t => {
  const [uiPort, gatewayPort] = [await freePort(), await freePort()];
  const limited = await startLimited(t, false, [], {
    // Each of these connections holds two, and a host from its sources holds more itself.
    limit: 2 * LIMIT,
    plugins: ['gateway', 'service-ui'],
    config: {
      dumb: { gateway: { enabled: true, port: gatewayPort } },
      app: {
        ...kid('App', []),
        command: [process.execPath, '-e', silent, '{port}'],
        enabled: true,
        port: uiPort,
        ui: {},
      },
    },
  });
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const ask = async (localAddress: string, path: string) => {
    const asked = { socket: connect({ port: gatewayPort, host: '127.0.0.1', localAddress }), told: '' };
    sockets.push(asked.socket);
    asked.socket.setEncoding('utf8').on('error', () => undefined);
    asked.socket.on('data', (text: string) => {
      asked.told += text;
    });
    asked.socket.write(`GET /ui/app/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    if (path === 'begun') await Promise.race([once(asked.socket, 'data'), once(asked.socket, 'close')]);
    return asked;
  };
  await until(async () => (await fetch(`http://127.0.0.1:${gatewayPort}/ui/app/`)).ok, { what: 'the service' });
  const other = await ask('127.0.0.3', 'silent');
  const flood: Awaited<ReturnType<typeof ask>>[] = [];
  while (flood.length < 2 * LIMIT && !flood.at(-1)?.told.includes('too many connections'))
    flood.push(await ask('127.0.0.2', 'silent'), await ask('127.0.0.2', 'begun'));
  t.match(flood.at(-1)?.told, 'There are too many connections; close some', 'one client has all');
  t.match(await json(limited.base, '/health'), { status: 'healthy' }, 'another one is answered all the same');
  for (let count = 0; count < 8; count += 1) await ask('127.0.0.4', 'begun');
  const cut = () => flood.filter(({ told }) => /503 .*other clients have fewer/s.test(told));
  await until(() => cut().length > 0, { what: 'one to be told why it is cut' });
  const begun = () => flood.filter(({ told, socket }) => told.startsWith('HTTP/1.1 200') && socket.closed);
  await until(() => begun().length > 0, { what: 'one whose answer has begun to be cut' });
  t.match(
    { told: other.told, closed: other.socket.closed },
    { told: '', closed: false },
    'a client with few keeps them',
  );
  await holds(t, limited);
});

t.test('a leak', { timeout: 100_000 }, async t => {
  const limited = await startLimited(t, false);
  const answer = await fetch(`${limited.base}/leak`, { method: 'POST', headers: { connection: 'close' } });
  t.same(await answer.json(), { code: 'EMFILE' });
  await until(
    async () => /file descriptors/.test((await json<{ details?: string }>(limited.base, '/health')).details ?? ''),
    {
      what: 'health to tell',
    },
  );
  const restart = await fetch(`${limited.base}/process/restart-service`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ process_name: 'Second' }),
  });
  t.equal(restart.status, 503);
  t.match(await restart.text(), /Second goes on running instead of being restarted, because hardly a file descriptor/);
  await holds(t, limited);
});

t.test('a plugin that changes while none is left', { timeout: 100_000 }, async t => {
  const limited = await startLimited(t, false);
  const answer = await fetch(`${limited.base}/blind`, { method: 'POST', headers: { connection: 'close' } });
  t.equal(answer.status, 200);
  t.match(limited.host.stdout(), /the plugins stay as they are/);
  await holds(t, limited);
});

t.test('its own children', { timeout: 100_000 }, async t => {
  const crowd = Array.from({ length: 24 }, (_none, index) => `Kid${index}`);
  const limited = await startLimited(t, false, crowd);
  const { host, base } = limited;
  execFileSync('prlimit', ['--pid', String(host.child.pid), '--nofile=105:105']);
  const launch = async (name: string) => {
    const answer = await fetch(`${base}/process/start-service`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ process_name: name }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const answers = await Promise.all(crowd.map(name => until(() => launch(name))));
  const refused = answers.filter(({ status }) => status !== 200);
  t.ok(refused.length > 0, 'there are more than can be launched');
  for (const { status, text } of refused) {
    t.equal(status, 503);
    t.match(text, 'is not started, because no file descriptor is left');
  }
  t.notMatch(host.stdout(), /plugin process failed|the record of .* is lost/);
  await holds(t, limited);
});
