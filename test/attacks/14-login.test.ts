// Line 14: a guesser slows down nobody but himself, absurd hashes and eternal tokens are refused, and an interface that
// is shown through the gateway never receives a token of the host.
import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { hashSync } from 'bcryptjs';
import jwt from 'jsonwebtoken';
import t from 'tap';
import { Agent, request } from 'undici';
import { WebSocket } from 'ws';
import { startHost, type TestHost, type TestHostOptions } from '../support/host.ts';
import { freePort } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const FIRST = { username: 'first', password: 'correct horse' };
const WRONG = { ...FIRST, password: 'wrong horse' };
const usersFile = (app: TestHost) => path.join(app.configDir, 'users.json');

async function open(t: { teardown(fn: () => unknown): void }, options: TestHostOptions = {}) {
  const app = await startHost({ plugins: ['auth', 'config'], ...options });
  t.teardown(() => app.stop());
  const { body } = await app.post('/auth/setup', FIRST);
  return { app, token: body.access_token as string };
}

/** Sends logins from another address of this machine. */
function peer(t: { teardown(fn: () => unknown): void }, app: TestHost, localAddress: string) {
  const agent = new Agent({ localAddress });
  t.teardown(() => agent.close());
  return async (credentials: unknown): Promise<number> => {
    const answer = await request(`${app.base}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
      dispatcher: agent,
    });
    await answer.body.dump();
    return answer.statusCode;
  };
}

const { app: shared } = await open(t);

t.test('a guesser at another address does not lock out the owner', async t => {
  const [guess, owner, newcomer] = [
    peer(t, shared, '127.0.0.2'),
    peer(t, shared, '127.0.0.3'),
    peer(t, shared, '127.0.0.4'),
  ];
  t.equal(await owner(FIRST), 200);
  for (let count = 0; count < 5; count += 1) t.equal(await guess(WRONG), 401);
  // On a slow machine the first pauses are over before the next guess.
  await until(async () => (await guess(WRONG)) === 429, { what: 'the guesser to be slowed down', intervalMs: 1 });
  t.equal(await owner(FIRST), 200);
  t.equal(await newcomer(FIRST), 200, 'who was never there before comes in, too');
});

t.test('guesses from many places leave room to those who logged in before', async t => {
  const { app } = await open(t);
  const owner = peer(t, app, '127.0.0.3');
  t.equal(await owner(FIRST), 200);
  const guessers = Array.from({ length: 8 }, (_, index) => peer(t, app, `127.0.1.${index + 1}`));
  const flood = guessers.flatMap(guess => Array.from({ length: 5 }, () => guess(WRONG)));
  t.equal(await owner(FIRST), 200);
  const codes = await Promise.all(flood);
  t.ok(codes.includes(503), 'the queue of the others is full');
  t.equal(await owner(FIRST), 200);
});

t.test('the first half of an IPv6 address is one client, and the tables have an end', async t => {
  const { networkOf } = await import('../../core/kit/client-address.ts');
  for (const [address, network] of [
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['192.0.2.7', '192.0.2.7'],
    ['', ''],
  ] as const) {
    t.equal(networkOf(address), network, address);
  }
  t.equal(networkOf('x'.repeat(10_000)).length, 64);

  const { LoginThrottle, ClientThrottle } = await import('../../plugins/auth/throttle.ts');
  const [logins, clients] = [new LoginThrottle(), new ClientThrottle()];
  const longName = 'n'.repeat(20_000);
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 15_000; index += 1) {
    clients.admit(`10.${index}`);
    await logins.attempt(`10.${index}`, `${longName}${index}`, async () => false);
  }
  t.ok(process.memoryUsage().heapUsed - before < 100_000_000, 'names and addresses do not pile up');
});

t.test('hashes that cost more than a login may are no hashes', async t => {
  const content = JSON.parse(await readFile(usersFile(shared), 'utf8'));
  const [salt, key] = ['A'.repeat(22), 'A'.repeat(43)];
  const absurd = [
    `$scrypt$ln=99,r=8,p=1$${salt}$${key}`,
    `$scrypt$ln=15,r=8,p=9$${salt}$${key}`,
    `$scrypt$ln=15,r=1073741823,p=1$${salt}$${key}`,
    `$scrypt$ln=1,r=1,p=1073741823$${salt}$${key}`,
    `$scrypt$ln=15,r=8,p=1$${salt}$${'A'.repeat(50_000_000)}`,
    `$scrypt$ln=0,r=0,p=0$${salt}$${key}`,
    '$scrypt$ln=15,r=8,p=1$$A',
  ];
  const users = absurd.map((password, index) => ({ username: `absurd${index}`, password, disabled: false }));
  const good = { username: 'good', password: hashSync(FIRST.password, 4), disabled: false };
  await writeFile(usersFile(shared), JSON.stringify({ ...content, users: [...content.users, ...users, good] }));
  const logIn = (username: string) => shared.post('/auth/login', { username, password: FIRST.password });
  await until(async () => (await logIn('good')).status === 200, { what: 'the new users to be known', intervalMs: 200 });
  for (const { username } of users) t.equal((await logIn(username)).status, 401, username);
  t.equal((await logIn('first')).status, 200);
});

t.test('a token without an end is refused', async t => {
  const { jwt_secret: secret, users } = JSON.parse(await readFile(usersFile(shared), 'utf8'));
  const key = createSecretKey(Buffer.from(secret));
  const sign = (type: string, more: object) =>
    jwt.sign({ sub: 'first', type, ver: users[0].token_version, ...more }, key);
  const config = (token: string) => shared.get('/config', { authorization: `Bearer ${token}` });
  const inAMinute = Math.floor(Date.now() / 1_000) + 60;
  t.equal((await config(sign('access', { exp: inAMinute }))).status, 200);
  t.equal((await config(sign('access', {}))).status, 401);
  t.same((await shared.post('/auth/verify', { token: sign('access', {}) })).body, { valid: false, username: null });
  t.equal((await shared.post('/auth/refresh', { refresh_token: sign('refresh', {}) })).status, 401);
  t.equal((await shared.post('/auth/refresh', { refresh_token: sign('refresh', { exp: inAMinute }) })).status, 200);
});

t.test('an embedded interface never receives a token of the host', async t => {
  const seen: IncomingHttpHeaders[] = [];
  const urls: string[] = [];
  const service = createServer((incoming, answer) => {
    seen.push(incoming.headers);
    urls.push(String(incoming.url));
    answer.end('hello');
  });
  service.on('upgrade', (incoming, socket) => {
    seen.push(incoming.headers);
    urls.push(String(incoming.url));
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => service.close());
  const gatewayPort = await freePort();
  const { app, token } = await open(t, {
    plugins: ['auth', 'config', 'service-ui', 'gateway'],
    config: {
      dumb: { gateway: { enabled: true, port: gatewayPort } },
      app: { enabled: true, process_name: 'App', port: (service.address() as AddressInfo).port, ui: {} },
    },
  });
  const { jwt_secret: secret } = JSON.parse(await readFile(usersFile(app), 'utf8'));
  const { refresh_token: refresh } = (await app.post('/auth/login', FIRST)).body;
  const expired = jwt.sign({ sub: 'first', type: 'access' }, createSecretKey(Buffer.from(secret)), { expiresIn: -60 });
  // Interfaces are served without a switch only then; a browser keeps its tokens, which are good again later.
  t.equal((await app.post('/auth/disable', undefined, { authorization: `Bearer ${token}` })).status, 200);
  const forwarded = async (authorization: string) => {
    const url = `http://127.0.0.1:${gatewayPort}/ui/app/`;
    await (await fetch(url, { headers: { authorization } })).arrayBuffer();
    await once(new WebSocket(url.replace('http', 'ws'), { headers: { authorization } }), 'error');
    return seen.splice(0).map(headers => headers.authorization);
  };
  for (const own of [token, refresh, expired]) {
    for (const scheme of ['Bearer', 'bearer']) {
      t.same(await forwarded(`${scheme} ${own}`), [undefined, undefined], 'neither over HTTP nor in an upgrade');
    }
  }
  const theirs = `Basic ${Buffer.from('user:password').toString('base64')}`;
  t.same(await forwarded(theirs), [theirs, theirs], 'what is for the service reaches it');
  const bearer = `Bearer ${jwt.sign({ sub: 'first', type: 'access' }, 'another key of another program', { expiresIn: 60 })}`;
  t.same(await forwarded(bearer), [bearer, bearer]);

  urls.length = 0;
  const base = `http://127.0.0.1:${gatewayPort}`;
  for (const own of [token, refresh, expired, encodeURIComponent(` ${token}`)]) {
    await (await fetch(`${base}/ui/app/page?a=1&token=${own}&b=`)).arrayBuffer();
    const cookie = 'dumb_ui_service=app';
    const stream = `${base.replace('http', 'ws')}/ws/of-a-plugin-that-is-away?token=${own}`;
    await once(new WebSocket(stream, { headers: { cookie } }), 'error');
  }
  t.same(new Set(urls), new Set(['/page?a=1&b=', '/ws/of-a-plugin-that-is-away?']), 'nor in an address');
  seen.length = 0;
  const page = `${base}/ui/app/page`;
  await (await fetch(page, { headers: { referer: `${page}?a=1&token=${token}` } })).arrayBuffer();
  t.equal(seen[0]?.referer, `${page}?a=1`, 'nor in that of the page which asks');
});
