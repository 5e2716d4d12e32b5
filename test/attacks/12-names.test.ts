// While nobody must log in, requests and streams are served by names of the own network alone, so that no page of a
// public name reaches them, however its address changes. With authentication on, nothing depends on the name.
import { networkInterfaces } from 'node:os';
import t from 'tap';
import { startHost, type TestHost } from '../support/host.ts';
import { freePort } from '../support/host-config.ts';
import { raw } from '../support/raw-http.ts';

const OWN = [
  'localhost',
  'localhost:8000',
  'LOCALHOST.',
  'sub.localhost',
  '127.0.0.1',
  '127.0.0.1:80',
  '172.16.1.20:3005',
  '[::1]',
  '[fd00::1]:8000',
  'nas',
  'nas:3005',
  'my_box.local',
  ...['lan', 'home', 'home.arpa', 'internal'].map(domain => `nas.${domain}`),
];
const FOREIGN = [
  'evil.example',
  'evil.example:8000',
  'local.evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '127.0.0.1.nip.io',
  'evil.example\\@nas.local',
  'evil.example/.local',
  '[evil.example]',
  '[::1',
  '::1',
  'nas.local:port',
  '.local',
  '',
];

const portOf = (app: TestHost): number => Number(new URL(app.base).port);

const get = (port: number, path: string, host: string, more: readonly string[] = []) =>
  raw(port, [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...more]);

const open = (port: number, path: string, host: string, more: readonly string[] = []) =>
  raw(port, [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ...more,
  ]);

t.test('by name, natively and through the gateway', async t => {
  const gatewayPort = await freePort();
  const app = await startHost({
    plugins: ['config', 'auth', 'logs', 'health', 'gateway'],
    config: {
      dumb: {
        gateway: { enabled: true, host: '127.0.0.1', port: gatewayPort },
        api_service: { allowed_hosts: ['media.example.com', 'box.example.com:3005', 'https://url.example.com/'] },
      },
    },
  });
  t.teardown(() => app.stop());
  const native = portOf(app);
  const served = [...OWN, 'media.example.com', 'MEDIA.example.com:443', 'box.example.com', 'url.example.com'];
  for (const host of served) {
    t.equal((await get(native, '/health', host)).status, 200, host);
    t.equal((await get(gatewayPort, '/api/health', host)).status, 200, `gateway: ${host}`);
    t.equal((await get(gatewayPort, '/', host)).status, 200, `console: ${host}`);
    t.equal((await open(native, '/ws/logs', host)).status, 101, `stream: ${host}`);
  }
  for (const host of FOREIGN) {
    const places = [
      await get(native, '/health', host),
      await get(native, '/config', host),
      await get(native, '/nothing', host),
      await get(gatewayPort, '/api/health', host),
      await get(gatewayPort, '/', host),
      await open(native, '/ws/logs', host),
      await open(gatewayPort, '/ws/logs', host),
      await open(gatewayPort, '/ui/x/', host),
    ];
    t.same(new Set(places.map(({ status }) => status)), new Set([403]), host);
    for (const { text } of places) t.match(text, /"detail":"The host name .*allowed_hosts/);
  }
  t.match((await get(native, '/health', 'evil.example')).text, /'evil\.example'/);
  t.equal(
    (await raw(native, ['GET http://evil.example/health HTTP/1.1', 'Host: nas', 'Connection: close'])).status,
    403,
    'absolute address',
  );

  await app.post('/config', { updates: { dumb: { api_service: { allowed_hosts: ['evil.example'] } } } });
  t.equal((await get(native, '/health', 'evil.example')).status, 200, 'a changed list counts at once');
  t.equal((await get(native, '/health', 'media.example.com')).status, 403);
});

t.test('by the site of the page', async t => {
  const app = await startHost({
    plugins: ['config', 'auth', 'logs'],
    config: {
      dumb: {
        api_service: { allowed_hosts: ['media.example.com'] },
        frontend: { origins: ['https://console.example.com'] },
      },
    },
  });
  t.teardown(() => app.stop());
  const port = portOf(app);
  const sites = [
    'http://nas.local:3005',
    'http://172.16.1.4',
    'https://media.example.com',
    'https://console.example.com',
  ];
  for (const site of sites) t.equal((await open(port, '/ws/logs', 'nas', [`Origin: ${site}`])).status, 101, site);
  for (const site of [
    'https://evil.example',
    'http://nas.local.evil.example',
    'null',
    'chrome-extension://abcdef',
    'nas',
  ])
    t.match(await open(port, '/ws/logs', 'nas', [`Origin: ${site}`]), { status: 403, text: /allowed_hosts/ }, site);
  const post = (site: string) =>
    raw(port, [
      'POST /process/start-service HTTP/1.1',
      'Host: nas',
      `Origin: ${site}`,
      'Content-Length: 0',
      'Connection: close',
    ]);
  t.equal((await post('https://evil.example')).status, 403, 'a form without a body');
  t.not((await post('http://nas:3005')).status, 403);
  t.equal((await get(port, '/config', 'nas', ['Origin: https://evil.example'])).status, 200, 'reading is not acting');
});

t.test('a forwarded name counts from trusted proxies alone', async t => {
  const start = (proxies: readonly string[]) =>
    startHost({ plugins: ['health'], config: { dumb: { api_service: { trusted_proxies: proxies } } } });
  const [trusting, other] = [await start(['127.0.0.0/8']), await start([])];
  t.teardown(() => Promise.all([trusting.stop(), other.stop()]));
  const ask = async (app: TestHost, host: string, forwarded: string) =>
    (await get(portOf(app), '/health', host, [`X-Forwarded-Host: ${forwarded}`])).status;
  t.equal(await ask(trusting, 'backend', 'evil.example'), 403);
  t.equal(await ask(trusting, 'backend', 'nas.local, evil.example'), 403);
  t.equal(await ask(trusting, 'backend.example.com', 'nas.local'), 200);
  t.equal(await ask(other, 'backend', 'evil.example'), 200, 'anybody can write that header');
  t.equal(await ask(other, 'evil.example', 'nas.local'), 403);
});

t.test('with authentication on, nothing depends on the name', async t => {
  const app = await startHost({ plugins: ['config', 'auth', 'health', 'logs'] });
  t.teardown(() => app.stop());
  const { access_token: token } = (await app.post('/auth/setup', { username: 'first', password: 'correct horse' }))
    .body;
  for (const host of FOREIGN.filter(name => name !== '')) {
    t.equal((await get(portOf(app), '/health', host)).status, 200, host);
    const { status } = await get(portOf(app), '/config', host, [`Authorization: Bearer ${token}`]);
    t.equal(status, 200, `with a token: ${host}`);
    t.equal((await open(portOf(app), `/ws/logs?token=${token}`, host, ['Origin: https://evil.example'])).status, 101);
  }
});

t.test('the address of this machine in its network is served', async t => {
  const [address] = Object.values(networkInterfaces())
    .flat()
    .filter(entry => entry?.family === 'IPv4' && entry.address !== '127.0.0.1');
  const app = await startHost({ plugins: ['health'], listen: { host: '0.0.0.0', port: 0 } });
  t.teardown(() => app.stop());
  const host = address?.address ?? '127.0.0.1';
  t.equal((await fetch(`http://${host}:${app.host.address?.port}/health`)).status, 200);
});
