// Line 7: a users.json that lacks what it must have lets nobody in, and neither it nor its copy is overwritten.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost, type TestHost } from '../support/host.ts';
import { until } from '../support/until.ts';

const FIRST = { username: 'first', password: 'correct horse' };
const HASH = `$scrypt$ln=15,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

const incomplete: Record<string, unknown> = {
  'an empty object': {},
  'an empty list': [],
  null: null,
  'only the switch': { enabled: false },
  'only the users': { users: [] },
  'a switch that is a text': { enabled: 'false', users: [] },
  'users that are no list': { enabled: false, users: {} },
  'a user without a password': { enabled: false, users: [{ username: 'first' }] },
  'a user without a name': { enabled: false, users: [{ password: HASH }] },
  'members that nest too deep': {
    enabled: false,
    users: [],
    oidc: JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`),
  },
  'members of its prototype': JSON.parse('{"__proto__": {"enabled": false, "users": []}}'),
};

async function logOf(app: TestHost): Promise<string> {
  const directory = path.join(app.configDir, 'log');
  return (
    await Promise.all((await readdir(directory)).map(name => readFile(path.join(directory, name), 'utf8')))
  ).join();
}

for (const [what, content] of Object.entries(incomplete)) {
  t.test(`${what} closes everything that is protected`, async t => {
    const text = JSON.stringify(content);
    const copy = JSON.stringify({ enabled: false, users: [] });
    const configDir = testDir(t, { 'users.json': text, 'users.json.bak': copy });
    const app = await startHost({ plugins: ['auth', 'config', 'health'], configDir });
    t.teardown(() => app.stop());
    t.equal((await app.get('/config')).status, 503);
    t.equal((await app.post('/auth/setup', FIRST)).status, 503, 'it is no first use');
    t.equal((await app.post('/auth/skip-setup')).status, 503);
    t.equal((await app.post('/auth/login', FIRST)).status, 503);
    t.match((await app.get('/auth/status')).body, { enabled: true, has_users: true, setup_skipped: false });
    t.equal(await readFile(path.join(configDir, 'users.json'), 'utf8'), text);
    t.equal(await readFile(path.join(configDir, 'users.json.bak'), 'utf8'), copy);
    const log = await until(async () => {
      const read = await logOf(app);
      return read.includes('nobody is admitted') ? read : null;
    });
    const remedy = /nobody is admitted until .*: copy a good .*users\.json\.bak over it, or remove it/;
    t.match(log, remedy, 'the log says how to recover');
    t.match((await app.host.reviewConfig()).problems, [remedy], 'and so does a check');
  });
}

t.test('a copy that is missing is told with its place once', async t => {
  const configDir = testDir(t, { 'users.json': '{"enabled": tr' });
  const app = await startHost({ plugins: ['auth', 'config', 'health'], configDir });
  t.teardown(() => app.stop());
  const told = `${configDir}/users.json.bak cannot be used: no such file or directory\n`;
  await until(async () => (await logOf(app)).includes(told), { what: 'the line about the copy' });
});

t.test('a file that is too large is not read, and one with a mark of its encoding is', async t => {
  const configDir = testDir(t, { 'users.json': '' });
  const file = path.join(configDir, 'users.json');
  await truncate(file, 65 * 2 ** 20);
  const app = await startHost({ plugins: ['auth', 'config', 'health'], configDir });
  t.teardown(() => app.stop());
  t.equal((await app.get('/config')).status, 503);
  await until(
    async () => /users\.json has 68157440 bytes, where 67108864 are allowed; shorten it/.test(await logOf(app)),
    { what: 'the line about its size' },
  );
  await writeFile(file, `\uFEFF${JSON.stringify({ enabled: true, users: [{ username: 'first', password: HASH }] })}`);
  await until(async () => (await app.get('/config')).status === 401, { what: 'the store to be read again' });
});

t.test('a copy in which authentication is off does not stand in for a damaged file', async t => {
  const copy = JSON.stringify({ enabled: false, users: [] });
  const configDir = testDir(t, { 'users.json': '{"enabled": tr', 'users.json.bak': copy });
  const app = await startHost({ plugins: ['auth', 'config', 'health'], configDir });
  t.teardown(() => app.stop());
  t.equal((await app.get('/config')).status, 503);
  await until(async () => /users\.json\.bak is not used, because authentication is off/.test(await logOf(app)), {
    what: 'the line about the copy',
  });
});

t.test('a store that is emptied while the host runs closes it, and its restored copy opens it', async t => {
  const app = await startHost({ plugins: ['auth', 'config', 'health'] });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'users.json');
  const { body } = await app.post('/auth/setup', FIRST);
  const mine = { authorization: `Bearer ${body.access_token}` };
  const copy = await readFile(`${file}.bak`, 'utf8');
  await writeFile(file, '{}');
  await until(async () => (await app.get('/config', mine)).status === 503, { what: 'the change to be noticed' });
  t.equal((await app.get('/config')).status, 503);
  t.equal(await readFile(`${file}.bak`, 'utf8'), copy);
  t.equal(await readFile(file, 'utf8'), '{}');
  await writeFile(file, copy);
  await until(async () => (await app.get('/config', mine)).status === 200, { what: 'the copy to be read' });
});

t.test('without the part that checks users, a file that lacks them opens nothing', async t => {
  const configDir = testDir(t, { 'users.json': '{"enabled":false}' });
  const app = await startHost({ plugins: ['config', 'health'], configDir });
  t.teardown(() => app.stop());
  t.equal((await app.get('/config')).status, 503);
  await rm(path.join(configDir, 'users.json'));
  await until(async () => (await app.get('/config')).status === 200, { what: 'first use' });
});

for (const plugins of [
  ['auth', 'config', 'health'],
  ['config', 'health'],
]) {
  const checker = plugins.includes('auth') ? 'with' : 'without';
  t.test(`a link that leads nowhere, and a FIFO, are no first use (${checker} the part that checks users)`, async t => {
    const configDir = testDir(t, {});
    const file = path.join(configDir, 'users.json');
    await symlink(path.join(configDir, 'volume-that-is-not-mounted', 'users.json'), file);
    const app = await startHost({ plugins, configDir });
    t.teardown(() => app.stop());
    t.equal((await app.get('/config')).status, 503);
    t.not((await app.post('/auth/setup', FIRST)).status, 200);
    await rm(file);
    await until(async () => (await app.get('/config')).status === 200, { what: 'first use' });
    await until(() => existsSync(`${file}.bak`) === plugins.includes('auth'), { what: 'the file of the first use' });
    await rm(file, { force: true });
    execFileSync('mkfifo', [file]);
    await until(async () => (await app.get('/config')).status === 503, { what: 'the FIFO to be noticed' });
    t.equal((await app.get('/health')).status, 200);
  });
}

t.test('a change of the file that was not noticed yet is not overwritten', async t => {
  const app = await startHost({ plugins: ['auth', 'config', 'health'] });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'users.json');
  const { body } = await app.post('/auth/setup', FIRST);
  const mine = { authorization: `Bearer ${body.access_token}` };
  const names = async () => (await app.get('/auth/users', mine)).body.users.map((user: typeof FIRST) => user.username);
  for (const name of ['one', 'two', 'three']) {
    const content = JSON.parse(await readFile(file, 'utf8'));
    const user = { username: `${name}-by-hand`, password: HASH, disabled: false };
    await writeFile(file, JSON.stringify({ ...content, users: [...content.users, user] }));
    await app.post('/auth/users', { username: `${name}-by-route`, password: 'another horse' }, mine);
  }
  const expected = ['one', 'two', 'three'].flatMap(name => [`${name}-by-hand`, `${name}-by-route`]);
  t.same(await names(), ['first', ...expected]);
  const { users } = JSON.parse(await readFile(file, 'utf8'));
  t.equal(users.length, 7);
});
