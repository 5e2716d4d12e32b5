// Accounts and sessions over HTTP: every state and route with its refusals, hashes of older installations, and damaged
// stores.
import { createHook } from 'node:async_hooks';
import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hashSync } from 'bcryptjs';
import jwt from 'jsonwebtoken';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['auth', 'config', 'process', 'health', 'logs'];

const asRoot = process.getuid?.() === 0;
const FIRST = { username: 'first', password: 'correct horse' };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const usersFile = (app: TestHost) => path.join(app.configDir, 'users.json');
const stored = async (app: TestHost) => JSON.parse(await readFile(usersFile(app), 'utf8'));

async function open(t: { teardown(fn: () => unknown): void }): Promise<TestHost> {
  const app = await startHost({ plugins: PLUGINS });
  t.teardown(() => app.stop());
  return app;
}

async function openWithUser(t: { teardown(fn: () => unknown): void }) {
  const app = await open(t);
  const { body } = await app.post('/auth/setup', FIRST);
  const token: string = body.access_token;
  return { app, token, refresh: body.refresh_token as string, mine: bearer(token) };
}

t.test('without users setup is open, and creates the first user', async t => {
  const app = await open(t);
  t.same((await app.get('/auth/status')).body, {
    enabled: false,
    has_users: false,
    setup_skipped: false,
    mode: 'local',
    local_login_enabled: true,
    oidc_login_enabled: false,
    oidc_provider_name: '',
  });
  t.equal((await stat(usersFile(app))).mode & 0o777, 0o600);
  t.equal((await app.get('/config')).status, 200, 'without users everything is open');
  t.equal((await app.post('/auth/login', FIRST)).status, 401, 'nobody logs in while it is off');
  t.equal((await app.post('/auth/enable')).status, 400, 'nobody could log in');
  t.match(await app.post('/auth/skip-setup'), { status: 200, body: { message: String } });
  t.equal((await app.get('/auth/status')).body.setup_skipped, true);

  for (const [username, password, rule] of [
    ['ab', 'long enough', /3 to 64/],
    ['a/b/c', 'long enough', /none of/],
    ['a\nbc', 'long enough', /control/],
    ['ab\ud800', 'long enough', /whole characters/],
    ['abc', 'short', /8 to 256/],
    ['abc', 'x'.repeat(257), /8 to 256/],
  ] as const) {
    const refused = await app.post('/auth/setup', { username, password });
    t.equal(refused.status, 400);
    t.match(refused.body.detail, rule);
  }
  const [one, two] = await Promise.all([
    app.post('/auth/setup', FIRST),
    app.post('/auth/setup', { ...FIRST, username: 'second' }),
  ]);
  t.same([one.status, two.status].sort(), [200, 400], 'of two at the same time one wins');
  const winner = one.status === 200 ? one : two;
  t.match(winner.body, { access_token: String, refresh_token: String, token_type: 'bearer' });
  t.match((await app.get('/auth/status')).body, { enabled: true, has_users: true, setup_skipped: false });
  t.equal((await app.post('/auth/setup', { ...FIRST, username: 'third' })).status, 400);
  t.equal((await app.post('/auth/skip-setup')).status, 400);
  t.match((await stored(app)).users[0].password, /^\$scrypt\$ln=15,r=8,p=1\$/);
  t.notMatch(await readFile(usersFile(app), 'utf8'), FIRST.password);
});

t.test('a login gives tokens, which are verified and refreshed', async t => {
  const { app, token, refresh } = await openWithUser(t);
  t.equal((await app.get('/config')).status, 401);
  t.equal((await app.get('/config', { authorization: `bEaReR ${token}` })).status, 200);
  const wrong = await app.post('/auth/login', { ...FIRST, password: 'wrong horse' });
  const nobody = await app.post('/auth/login', { ...FIRST, username: 'nobody' });
  t.same([wrong.status, nobody.status], [401, 401]);
  t.equal(wrong.body.detail, nobody.body.detail, 'one text, whoever it was');
  t.equal((await app.post('/auth/login', { username: 'first' })).status, 422);
  const login = await app.post('/auth/login', FIRST);
  t.equal(login.status, 200);
  t.match(jwt.decode(login.body.access_token), {
    sub: 'first',
    type: 'access',
    provider: 'local',
    groups: [],
    ver: Number,
  });
  const lifetime = jwt.decode(login.body.access_token) as { exp: number; iat: number };
  t.equal(lifetime.exp - lifetime.iat, 3_600);

  const renewed = await app.post('/auth/refresh', { refresh_token: refresh });
  t.equal(renewed.status, 200);
  t.equal((await app.post('/auth/refresh', { refresh_token: refresh })).status, 200, 'several tabs share one');
  t.equal((await app.post('/auth/refresh', { refresh_token: token })).status, 401, 'an access token is none');

  const verify = (of: string) => app.post(`/auth/verify?token=${encodeURIComponent(of)}`);
  t.same((await verify(token)).body, { valid: true, username: 'first' });
  t.same((await app.post('/auth/verify', { token })).body, { valid: true, username: 'first' });
  for (const bad of [refresh, 'nonsense', `${token}x`])
    t.same((await verify(bad)).body, { valid: false, username: null });
  const errors = [{ loc: ['query', 'token'], msg: String, type: String }];
  t.match(await app.post('/auth/verify'), { status: 422, body: { detail: /token is missing/, errors } });
  t.notMatch((await app.get('/logs?process_name=DUMB', bearer(token))).body.chunk, token);

  t.equal((await app.post('/auth/disable')).status, 401, 'switching it off needs a token');
  t.equal((await app.post('/auth/disable', undefined, bearer(token))).status, 200);
  t.equal((await app.get('/config')).status, 200);
  t.same((await verify(token)).body, { valid: false, username: null });
  t.equal((await app.post('/auth/enable')).status, 200);
  t.equal((await app.get('/config')).status, 401);
});

t.test('users are created, changed and deleted', async t => {
  const { app, mine } = await openWithUser(t);
  const other = { username: 'Other One', password: 'another horse' };
  t.match(await app.post('/auth/users', other, mine), {
    status: 200,
    body: { username: 'Other One', disabled: false },
  });
  t.equal(
    (await app.post('/auth/users', { ...other, username: 'other one' }, mine)).status,
    400,
    'differs in case only',
  );
  t.same((await app.get('/auth/users', mine)).body.users, [
    { username: 'first', disabled: false },
    { username: 'Other One', disabled: false },
  ]);
  const put = (name: string, json: unknown) =>
    app.request('PUT', `/auth/users/${encodeURIComponent(name)}`, { json, headers: mine });
  const remove = (name: string, headers = mine) =>
    app.request('DELETE', `/auth/users/${encodeURIComponent(name)}`, { headers });

  const theirs = bearer((await app.post('/auth/login', other)).body.access_token);
  t.equal((await app.get('/config', theirs)).status, 200);
  t.equal((await put('Other One', { disabled: true })).status, 200);
  t.equal((await app.get('/config', theirs)).status, 401, 'a disabled user is out at once');
  t.equal((await app.post('/auth/login', other)).status, 401);
  t.equal((await put('Other One', { disabled: false })).status, 200);
  t.equal((await app.get('/config', theirs)).status, 401, 'old tokens stay dead');
  t.equal((await put('Other One', { password: 'a new horse' })).status, 200);
  t.equal((await app.post('/auth/login', other)).status, 401);
  t.equal((await app.post('/auth/login', { ...other, password: 'a new horse' })).status, 200);

  t.equal((await put('nobody', { disabled: true })).status, 404);
  t.equal((await put('first', {})).status, 422);
  t.equal((await put('first', { password: 'short' })).status, 400);
  t.equal((await remove('nobody')).status, 404);
  t.match(await remove('first'), { status: 400, body: { detail: /your own/ } });
  t.equal((await put('Other One', { disabled: true })).status, 200);
  t.match(await put('first', { disabled: true }), { status: 400, body: { detail: /last user/ } });
  t.equal((await remove('Other One')).status, 200);
  t.equal((await app.post('/auth/disable', undefined, mine)).status, 200);
  t.equal((await put('first', { disabled: true })).status, 400, 'while it is off nothing is changed');
  t.equal((await app.get('/auth/users')).status, 200);
});

t.test('the log tells who creates, changes and deletes users, and no password', async t => {
  const { app, mine } = await openWithUser(t);
  const other = { username: 'Other One', password: 'another horse' };
  const request = (method: string, json?: unknown) =>
    app.request(method, '/auth/users/Other%20One', { ...(json === undefined ? {} : { json }), headers: mine });
  await app.post('/auth/users', other, mine);
  await request('PUT', { disabled: true });
  await request('PUT', { disabled: false, password: 'a new horse' });
  await request('PUT', { password: 'short' });
  await request('DELETE');
  await request('DELETE');
  const lines = await ownLog(app);
  t.same(
    lines.flatMap(line => /user 'Other One' .*/.exec(line) ?? []),
    [
      "user 'Other One' was created by 'first'",
      "user 'Other One' was disabled, by 'first'",
      "user 'Other One' was enabled and got a new password, by 'first'",
      "user 'Other One' was deleted by 'first'",
    ],
  );
  t.notMatch(lines.join(), /horse/);
});

t.test('of several users of one name in the file only the first counts', async t => {
  const { app, mine } = await openWithUser(t);
  const second = { username: 'second', password: 'another horse' };
  await app.post('/auth/users', second, mine);
  const content = await stored(app);
  await writeFile(usersFile(app), JSON.stringify({ ...content, users: [...content.users, ...content.users] }));
  const put = (name: string, json: unknown) => app.request('PUT', `/auth/users/${name}`, { json, headers: mine });
  t.equal((await put('second', { disabled: true })).status, 200);
  t.match(await put('first', { disabled: true }), { status: 400, body: { detail: /last user/ } });
  t.equal((await app.get('/auth/users', mine)).body.users.length, 2);
  t.equal((await app.request('DELETE', '/auth/users/second', { headers: mine })).status, 200);
  t.equal((await app.post('/auth/login', second)).status, 401, 'nobody stands behind a deleted user');
  await until(async () =>
    (await ownLog(app)).some(line => line.includes("has several users 'second'; only the first")),
  );
});

t.test('a user with an invalid hash does not count as one who can log in', async t => {
  const { app, mine } = await openWithUser(t);
  const byHand = { username: 'by hand', password: 'not a hash', disabled: false };
  const content = await stored(app);
  await writeFile(usersFile(app), JSON.stringify({ ...content, users: [...content.users, byHand] }));
  const put = (name: string, json: unknown) =>
    app.request('PUT', `/auth/users/${encodeURIComponent(name)}`, { json, headers: mine });
  t.match(await put('first', { disabled: true }), { status: 400, body: { detail: /last user/ } });
  await writeFile(usersFile(app), JSON.stringify({ ...content, enabled: false, users: [byHand] }));
  t.match(await app.post('/auth/enable', undefined, mine), { status: 400, body: { detail: /No user can log in/ } });
  t.equal((await stored(app)).enabled, false);
  await writeFile(usersFile(app), JSON.stringify({ ...content, users: [...content.users, byHand] }));
  t.equal((await put('by hand', { password: 'another horse' })).status, 200);
  t.equal((await put('first', { disabled: true })).status, 200, 'with a password it is one');
});

t.test('adding the first user enables authentication', async t => {
  const app = await open(t);
  await app.post('/auth/skip-setup');
  t.equal((await app.post('/auth/users', FIRST)).status, 200);
  t.match((await app.get('/auth/status')).body, { enabled: true, has_users: true, setup_skipped: false });
});

t.test('who came while nobody had to log in adds no user once somebody must', async t => {
  const app = await open(t);
  const names = ['first', 'second', 'third'];
  const answers = await Promise.all(
    names.map(username => app.post('/auth/users', { username, password: 'long enough' })),
  );
  t.same(answers.map(({ status }) => status).sort(), [200, 401, 401]);
  const winner = answers.find(({ status }) => status === 200)?.body;
  const { users } = await stored(app);
  t.same(
    users.map(({ username }: { username: string }) => username),
    [winner.username],
  );
});

t.test('guessing is slowed down, nobody is locked out', async t => {
  const { app } = await openWithUser(t);
  const guess = () => app.post('/auth/login', { ...FIRST, password: 'wrong horse' });
  for (let attempt = 0; attempt < 5; attempt += 1) t.equal((await guess()).status, 401);
  const paused = await app.post('/auth/login', FIRST);
  t.equal(paused.status, 429);
  t.match(paused.headers['retry-after'], /^\d+$/);
  t.equal(
    (
      await until(async () => {
        const answer = await app.post('/auth/login', FIRST);
        return answer.status === 429 ? null : answer;
      })
    ).status,
    200,
    'after the pause the right password lets in',
  );
  const burst = () => Promise.all(Array.from({ length: 60 }, () => app.post('/auth/verify', { token: 'x' })));
  await until(async () => (await burst()).some(answer => answer.status === 429), { what: 'the rate of a peer' });
});

t.test('hashes of older installations', async t => {
  const { app, mine } = await openWithUser(t);
  const content = await stored(app);
  const long = 'p'.repeat(100);
  const old = hashSync(long, 4);
  const users = ['$2a$', '$2b$', '$2y$'].map((prefix, index) => ({
    username: `old${index}`,
    password: old.replace(/^\$2.\$/, prefix),
    disabled: false,
  }));
  await writeFile(usersFile(app), JSON.stringify({ ...content, users: [...content.users, ...users] }));
  await until(async () => (await app.get('/auth/users', mine)).body.users.length === 4);
  for (const { username } of users) {
    t.equal((await app.post('/auth/login', { username, password: 'wrong one' })).status, 401);
    t.equal((await app.post('/auth/login', { username, password: long })).status, 200);
    const user = (await stored(app)).users.find((found: { username: string }) => found.username === username);
    t.match(user.password, /^\$scrypt\$/, 'replaced at the first good login');
    t.equal((await app.post('/auth/login', { username, password: long })).status, 200);
  }
});

t.test('a password that is set while the old one is compared stays', async t => {
  const { app, mine } = await openWithUser(t);
  const content = await stored(app);
  const old = { username: 'old', password: hashSync('old password', 12), disabled: false };
  await writeFile(usersFile(app), JSON.stringify({ ...content, users: [...content.users, old] }));
  await until(async () => (await app.get('/auth/users', mine)).body.users.length === 2);
  const logIn = (password: string) => app.post('/auth/login', { username: 'old', password });
  const late = new Promise<number>((resolve, reject) => {
    const onThread = () => {
      unsubscribe('worker_threads', onThread);
      app
        .request('PUT', '/auth/users/old', { json: { password: 'new password' }, headers: mine })
        .then(answer => resolve(answer.status), reject);
    };
    subscribe('worker_threads', onThread);
  });
  const first = await logIn('old password');
  t.equal(await late, 200);
  t.ok([200, 401].includes(first.status));
  t.equal((await logIn('old password')).status, 401);
  t.equal((await logIn('new password')).status, 200);
});

t.test('a failed login costs the same for every name', async t => {
  const { app, mine } = await openWithUser(t);
  const content = await stored(app);
  const old = hashSync('old password', 4);
  const users = [
    { username: 'old', password: old, disabled: false },
    { username: 'disabled', password: old, disabled: true },
    { username: 'unknown-form', password: 'plain', disabled: false },
  ];
  await writeFile(usersFile(app), JSON.stringify({ ...content, users: [...content.users, ...users] }));
  await until(async () => (await app.get('/auth/users', mine)).body.users.length === 4);
  const cost = { bcrypt: 0, scrypt: 0 };
  const onThread = () => {
    cost.bcrypt += 1;
  };
  const hook = createHook({
    init(_id, type) {
      if (type === 'SCRYPTREQUEST') cost.scrypt += 1;
    },
  });
  subscribe('worker_threads', onThread);
  hook.enable();
  t.teardown(() => {
    unsubscribe('worker_threads', onThread);
    hook.disable();
  });
  for (const username of ['first', 'old', 'disabled', 'unknown-form', 'nobody']) {
    Object.assign(cost, { bcrypt: 0, scrypt: 0 });
    t.equal((await app.post('/auth/login', { username, password: 'wrong horse' })).status, 401);
    t.same(cost, { bcrypt: 1, scrypt: 1 }, username);
  }
  await app.post('/auth/login', { username: 'old', password: 'old password' });
  Object.assign(cost, { bcrypt: 0, scrypt: 0 });
  await app.post('/auth/login', { username: 'nobody', password: 'wrong horse' });
  t.same(cost, { bcrypt: 0, scrypt: 1 }, 'no user has an old hash any more');
});

t.test('a damaged store refuses everybody, and its removal opens setup', async t => {
  const { app, mine } = await openWithUser(t);
  await app.post('/auth/users', { username: 'second', password: 'another horse' }, mine);
  await writeFile(usersFile(app), '{ damaged');
  await until(async () => (await app.get('/logs?process_name=DUMB', mine)).body.chunk?.includes('cannot be used'));
  t.equal((await app.get('/config', mine)).status, 200, 'the backup stands in');
  t.equal(await readFile(usersFile(app), 'utf8'), '{ damaged', 'the damaged file is kept');
  await writeFile(`${usersFile(app)}.bak`, '[]');
  await writeFile(usersFile(app), '{ damaged more');
  await until(async () => (await app.get('/config', mine)).status === 503);
  t.match((await app.get('/auth/status')).body, { enabled: true, has_users: true });
  t.equal((await app.post('/auth/login', FIRST)).status, 503);
  t.equal((await app.get('/health')).status, 200);
  await rm(usersFile(app));
  await until(
    async () => (await app.get('/auth/status')).body.has_users === false && (await app.get('/config')).status === 200,
  );
  t.equal((await app.post('/auth/setup', FIRST)).status, 200);
});

t.test('a store is used again once its permissions are corrected', async t => {
  const { app, mine } = await openWithUser(t);
  const text = await readFile(usersFile(app), 'utf8');
  await rm(`${usersFile(app)}.bak`);
  await chmod(usersFile(app), 0o666);
  await writeFile(usersFile(app), text);
  await until(async () => (await app.get('/config', mine)).status === 503, { what: 'the host to distrust it' });
  await chmod(usersFile(app), 0o600);
  await until(async () => (await app.get('/config', mine)).status === 200, { what: 'the mended rights to count' });
});

t.test('a change that cannot be written is an error', { skip: asRoot ? false : 'only root may mount' }, async t => {
  const place = testDir(t, {});
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place]);
  t.teardown(() => execFileSync('umount', ['--lazy', place]));
  process.env.DUMB_AUTH_CONFIG_PATH = path.join(place, 'users.json');
  t.teardown(() => {
    delete process.env.DUMB_AUTH_CONFIG_PATH;
  });
  const { app, mine } = await openWithUser(t);
  const file = path.join(place, 'users.json');
  const content = JSON.parse(await readFile(file, 'utf8'));
  const old = { username: 'old', password: hashSync(FIRST.password, 4), disabled: false };
  await writeFile(file, JSON.stringify({ ...content, users: [...content.users, old] }));
  await until(async () => (await app.get('/auth/users', mine)).body.users.length === 2);
  const before = await readFile(file, 'utf8');
  execFileSync('mount', ['-o', 'remount,ro', place]);
  t.equal((await app.post('/auth/users', { username: 'second', password: 'another horse' }, mine)).status, 503);
  t.equal((await app.get('/auth/users', mine)).body.users.length, 2);
  t.equal((await app.post('/auth/login', { ...FIRST, username: 'old' })).status, 200, 'an old hash is still good');
  t.equal(await readFile(file, 'utf8'), before);
});

t.test('the directory of a store elsewhere is created', async t => {
  const file = path.join(testDir(t, {}), 'of', 'its-own', 'users.json');
  process.env.DUMB_AUTH_CONFIG_PATH = file;
  t.teardown(() => {
    delete process.env.DUMB_AUTH_CONFIG_PATH;
  });
  const { app, mine } = await openWithUser(t);
  t.equal((await app.get('/config', mine)).status, 200);
  t.equal((await stat(path.dirname(file))).mode & 0o777, 0o700);
  t.equal((await stat(file)).mode & 0o777, 0o600);
});

t.test('a store that vanishes does not open setup', async t => {
  const { app, mine } = await openWithUser(t);
  await rm(usersFile(app));
  // The host checks the file once a second.
  await until(async () => {
    await app.get('/config', mine);
    return (await ownLog(app)).some(line => line.includes('users.json is gone'));
  });
  t.equal((await app.get('/config')).status, 401);
  t.equal((await app.post('/auth/setup', { ...FIRST, username: 'intruder' })).status, 400);
  t.equal((await app.get('/config', mine)).status, 200);
  await app.post('/auth/users', { username: 'second', password: 'another horse' }, mine);
  t.equal((await stored(app)).users.length, 2, 'the next change writes it again');
});

t.test('a deleted user does not come back', async t => {
  const { app, mine } = await openWithUser(t);
  const second = { username: 'second', password: 'another horse' };
  await app.post('/auth/users', second, mine);
  const { body } = await app.post('/auth/login', second);
  await app.request('DELETE', '/auth/users/second', { headers: mine });
  await app.post('/auth/users', { ...second, password: 'a third horse' }, mine);
  t.equal((await app.get('/config', bearer(body.access_token))).status, 401, 'not by the tokens of a namesake');
  await app.request('DELETE', '/auth/users/second', { headers: mine });
  await writeFile(usersFile(app), 'damaged');
  await until(async () => (await app.get('/auth/users', mine)).body.users?.length === 1, {
    what: 'the copy to be used',
  });
});

t.test('parallel guesses do not avoid the pause', async t => {
  const { app } = await openWithUser(t);
  const guess = () => app.post('/auth/login', { ...FIRST, password: 'wrong horse' });
  const codes = (await Promise.all(Array.from({ length: 12 }, guess))).map(answer => answer.status);
  t.equal(codes.filter(code => code === 401).length, 5);
  t.equal(codes.filter(code => code === 429).length, 7);
});

t.test('a bcrypt hash of absurd cost is abandoned, and the next login is checked', async t => {
  const { verifyPassword } = await import('../../../plugins/auth/password.ts');
  const absurd = `$2b$31$${'a'.repeat(53)}`;
  await t.rejects(verifyPassword('secret', absurd, { limitMs: 100 }), {
    message: /bcrypt hash took longer than 100 ms/,
  });
  t.equal(await verifyPassword('secret', undefined), false);
});

t.test('the address of a client behind trusted proxies is found', async t => {
  const { findClientAddress } = await import('../../../core/kit/client-address.ts');
  const forwarded = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7, 172.16.5.5' };
  for (const [peer, trusted, expected] of [
    ['172.16.0.1', [], '172.16.0.1'],
    ['172.16.0.1', ['172.16.0.1'], '172.16.5.5'],
    ['172.16.0.1', ['172.16.0.0/12'], '198.51.100.7'],
    ['::ffff:172.16.0.1', ['172.16.0.0/12', 'nonsense', '1.2.3.4/99'], '198.51.100.7'],
    ['172.16.0.1', ['172.16.0.0/12', '198.51.100.0/24'], '203.0.113.9'],
    ['fd00::1', ['fd00::/8'], '172.16.5.5'],
    ['fe80::1', ['fd00::/8'], 'fe80::1'],
  ] as const) {
    t.equal(findClientAddress({ peer, headers: forwarded }, trusted), expected, `${peer} with ${trusted.join(', ')}`);
  }
  t.equal(findClientAddress({ peer: undefined, headers: {} }, ['172.16.0.0/12']), '');
  for (const [hops, expected] of [
    ['198.51.100.7:50123', '198.51.100.7'],
    ['198.51.100.7:50123, 172.16.5.5:443', '198.51.100.7'],
    ['[2001:db8::7]:50123', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
  ] as const) {
    const headers = { 'x-forwarded-for': hops };
    t.equal(findClientAddress({ peer: '172.16.0.1', headers }, ['172.16.0.0/12']), expected, hops);
  }
});
