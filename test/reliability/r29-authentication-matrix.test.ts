// R29: with authentication on, every route and stream of the running host but the public ones refuses bad credentials.
// The list is the host's own, so a new plugin is covered as it comes.
import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import jwt from 'jsonwebtoken';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { pluginNames, pluginsDir, startHost, type TestHost } from '../support/host.ts';

const USER = { username: 'first', password: 'correct horse' };
const PUBLIC = new Set([
  'GET /health',
  'GET /auth/status',
  'POST /auth/login',
  'POST /auth/refresh',
  'POST /auth/verify',
  'POST /auth/setup',
  'POST /auth/skip-setup',
  'GET /openapi.json',
]);

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly url: string;
}

async function operations(app: TestHost): Promise<Operation[]> {
  const { paths } = (await app.get('/openapi.json')).body as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([route, item]) =>
    Object.keys(item).map(method => ({
      name: `${method.toUpperCase()} ${route}`,
      method: method.toUpperCase(),
      url: route.replaceAll(/\{[^}]+\}/g, 'x'),
    })),
  );
}

const streamsOf = ({ host }: TestHost): string[] => host.plugins().flatMap(plugin => plugin.streams);

async function closeOf(app: TestHost, stream: string, token?: string): Promise<{ code: number; reason: string }> {
  const socket = app.ws(token === undefined ? stream : `${stream}?token=${encodeURIComponent(token)}`);
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  return { code, reason: String(reason) };
}

const app = await startHost({ plugins: 'all' });
t.teardown(() => app.stop());
const { access_token: token, refresh_token: refresh } = (await app.post('/auth/setup', USER)).body;
const mine = { authorization: `Bearer ${token}` };

t.test('bad credentials of every kind', { timeout: 110_000 }, async t => {
  await app.post('/auth/users', { username: 'deleted', password: 'another horse' }, mine);
  await app.post('/auth/users', { username: 'disabled', password: 'another horse' }, mine);
  const tokenOf = async (username: string): Promise<string> =>
    (await app.post('/auth/login', { username, password: 'another horse' })).body.access_token;
  const [deleted, disabled] = [await tokenOf('deleted'), await tokenOf('disabled')];
  await app.request('DELETE', '/auth/users/deleted', { headers: mine });
  await app.request('PUT', '/auth/users/disabled', { json: { disabled: true }, headers: mine });

  const { jwt_secret: secret, users } = JSON.parse(await readFile(path.join(app.configDir, 'users.json'), 'utf8'));
  const key = createSecretKey(Buffer.from(secret));
  const versionOf = (name: string): number =>
    users.find(({ username }: { username: string }) => username === name).token_version;
  // Each token lacks one thing alone, or it would be refused whatever that is.
  const claims = { sub: 'first', type: 'access', provider: 'local', groups: [], ver: versionOf('first') };
  const good = jwt.sign(claims, key, { expiresIn: 60 });
  t.equal((await app.get('/config', { authorization: `Bearer ${good}` })).status, 200, 'which all others resemble');
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const tokens: Record<string, string> = {
    'a bad signature': `${token.slice(0, -4)}AAAA`,
    'a signature spelled otherwise': `${token}=`,
    'a part too many': `${token}.AAAA`,
    'a token for later': jwt.sign(claims, key, { notBefore: 3_600, expiresIn: 7_200 }),
    'another key': jwt.sign(claims, createSecretKey(Buffer.from('x'.repeat(43))), { expiresIn: 60 }),
    'alg none': `${encode({ alg: 'none', typ: 'JWT' })}.${encode({ ...claims, exp: 9_999_999_999 })}.`,
    'another algorithm': jwt.sign(claims, key, { algorithm: 'HS512', expiresIn: 60 }),
    'a header that must be understood': jwt.sign(claims, key, {
      header: { alg: 'HS256', crit: ['exp'] },
      expiresIn: 60,
    }),
    'another issuer': jwt.sign({ ...claims, iss: 'https://login.example.org' }, key, { expiresIn: 60 }),
    'another audience': jwt.sign({ ...claims, aud: 'another-program' }, key, { expiresIn: 60 }),
    'another provider': jwt.sign({ ...claims, provider: 'oidc' }, key, { expiresIn: 60 }),
    'an expired token': jwt.sign(claims, key, { expiresIn: -60 }),
    'a refresh token': refresh,
    'a token that never expires': jwt.sign(claims, key),
    'an older version of the credentials': jwt.sign({ ...claims, ver: claims.ver - 1 }, key, { expiresIn: 60 }),
    'an unknown user': jwt.sign({ ...claims, sub: 'nobody' }, key, { expiresIn: 60 }),
    'a deleted user': deleted,
    'a disabled user': disabled,
    'a disabled user with the present version': jwt.sign(
      { ...claims, sub: 'disabled', ver: versionOf('disabled') },
      key,
      { expiresIn: 60 },
    ),
    'no token at all': 'nonsense',
  };
  const headers: Record<string, Record<string, string>> = {
    nothing: {},
    'another scheme': { authorization: `Basic ${Buffer.from('first:correct horse').toString('base64')}` },
    'a bare token': { authorization: token },
    'an empty bearer': { authorization: 'Bearer ' },
    ...Object.fromEntries(Object.entries(tokens).map(([what, bad]) => [what, { authorization: `Bearer ${bad}` }])),
  };

  const all = await operations(app);
  const guarded = all.filter(({ name }) => !PUBLIC.has(name));
  t.ok(guarded.length >= 15);
  for (const { name, method, url } of guarded) {
    const accepted: string[] = [];
    for (const [what, sent] of Object.entries(headers)) {
      const answer = await app.request(method, url, { headers: sent });
      const refused = answer.status === 401 && answer.headers['www-authenticate'] === 'Bearer';
      if (!refused || typeof answer.body.detail !== 'string') accepted.push(`${what}: ${answer.status}`);
    }
    t.same(accepted, [], name);
  }
  for (const { name, url } of all.filter(operation => PUBLIC.has(operation.name) && operation.method === 'GET')) {
    t.equal((await app.get(url)).status, 200, `${name} is public`);
  }
  t.equal((await app.get('/no-such-route')).status, 404, 'an unknown path is unknown before it is guarded');
  t.equal((await app.get(`/config?token=${token}`)).status, 401, 'a token in the query counts for streams only');

  const streams = streamsOf(app);
  t.ok(streams.length >= 2);
  for (const stream of streams) {
    t.match(await closeOf(app, stream), { code: 1008, reason: /auth|token/i }, `${stream}: nothing`);
    for (const [what, bad] of Object.entries(tokens)) {
      t.match(await closeOf(app, stream, bad), { code: 1008, reason: /auth|token/i }, `${stream}: ${what}`);
    }
    const socket = app.ws(`${stream}?token=${encodeURIComponent(token)}`);
    await once(socket, 'open');
    socket.terminate();
  }
  t.equal((await app.get('/config', mine)).status, 200, 'the good token is still good');
});

t.test('open streams end when their user may no longer', async t => {
  await app.post('/auth/users', { username: 'other', password: 'another horse' }, mine);
  const { body } = await app.post('/auth/login', { username: 'other', password: 'another horse' });
  const socket = app.ws(`/ws/logs?token=${encodeURIComponent(body.access_token)}`);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await app.request('PUT', '/auth/users/other', { json: { disabled: true }, headers: mine });
  t.equal((await closed)[0], 1008);
});

t.test('R21: a token that expires ends its stream with 1008', async t => {
  const { jwt_secret: secret } = JSON.parse(await readFile(path.join(app.configDir, 'users.json'), 'utf8'));
  // A clock may be off by five seconds, so a token that ended four seconds ago is good for one more.
  const ending = jwt.sign({ sub: 'first', type: 'access', ver: 0 }, createSecretKey(Buffer.from(secret)), {
    expiresIn: -4,
  });
  const socket = app.ws(`/ws/logs?token=${encodeURIComponent(ending)}`);
  await once(socket, 'open');
  const [code, reason] = await once(socket, 'close');
  t.equal(code, 1008);
  t.match(String(reason), /token/);
});

for (const [how, broken] of [
  ['removed', undefined],
  ['broken', "throw new Error('broken');"],
] as const) {
  t.test(`the plugin is ${how} while authentication is on`, async t => {
    const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-plugins-'));
    t.teardown(() => rm(directory, { recursive: true }));
    for (const name of await pluginNames()) {
      if (name !== 'auth') await symlink(path.join(pluginsDir, name), path.join(directory, name));
      else if (broken !== undefined) {
        await mkdir(path.join(directory, 'auth'));
        await writeFile(path.join(directory, 'auth', 'index.js'), broken);
      }
    }
    const configDir = testDir(t, { 'users.json': JSON.stringify({ enabled: true, users: [] }) });
    const config = { dumb: { plugins: { required: ['config'] } } };
    const app = await startHost({ plugins: 'all', configDir, config, pluginDirs: [directory] });
    t.teardown(() => app.stop());
    for (const { name, method, url } of await operations(app)) {
      if (PUBLIC.has(name)) continue;
      t.equal((await app.request(method, url)).status, 503, `${name} is closed`);
    }
    for (const stream of streamsOf(app)) t.equal((await closeOf(app, stream)).code, 1013, `${stream} is closed`);
    t.equal((await app.get('/health')).status, 200);
  });
}
