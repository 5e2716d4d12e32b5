// Line 9: state and plugins that others may write are refused, with the way to mend it, and nothing is made that way.
import { chmod, chown, lchown, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { kid } from '../support/kids.ts';
import { spawnStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const NOBODY = 65_534;
const skip = process.getuid?.() === 0 ? false : 'only root may give files away';
const SOURCE = `export default { name: 'guest', host: '^1', setup (host) {
  host.route({ method: 'GET', path: '/guest', summary: 'x', handle: () => ({}) }) } }`;

/** Everything below a directory with its permission bits. */
async function modesIn(directory: string): Promise<Map<string, number>> {
  const entries = await readdir(directory, { recursive: true });
  const modes = await Promise.all(
    entries.map(async name => [name, (await stat(path.join(directory, name))).mode & 0o777] as const),
  );
  return new Map(modes);
}

t.test('with umask 000 the state is private and nothing is writable by others', { skip }, async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir, { kid: kid('Kid', ['calm'], { enabled: true }) });
  const before = process.umask(0);
  const host = await startStackwarden(configDir, port, { plugins: ['config', 'process', 'auth'] }).finally(() =>
    process.umask(before),
  );
  t.teardown(async () => {
    host.child.kill('SIGTERM');
    await host.exited;
  });
  await until(async () => (await modesIn(configDir)).has('supervisor/state.json'), { what: 'the record' });
  const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const user = JSON.stringify({ username: 'owner', password: 'a long password' });
  await fetch(`${host.base}/auth/setup`, { ...post, body: user });
  const modes = await modesIn(configDir);
  modes.delete('stackwarden.json');
  for (const [name, mode] of modes) t.equal(mode & 0o022, 0, `${name} is not writable by others`);
  t.equal(modes.get('supervisor'), 0o700);
  t.equal(modes.get('users.json'), 0o600);
  for (const [name, mode] of modes) if (name.startsWith('supervisor/')) t.equal(mode, 0o600, name);
});

for (const [what, harm] of [
  ['writable by others', (place: string) => chmod(place, 0o777)],
  ['of another user', (place: string) => chown(place, NOBODY, NOBODY)],
] as const) {
  t.test(`a state directory ${what} keeps the host from starting`, { skip }, async t => {
    const configDir = testDir(t, { supervisor: {} });
    await writeConfig(configDir);
    await harm(path.join(configDir, 'supervisor'));
    const { exited, stderr } = spawnStackwarden(configDir);
    t.equal((await exited).code, 1);
    t.match(
      stderr(),
      /supervisor (may be written by others|belongs to user 65534), .* make it user 0's with mode 0700/,
    );
    await t.rejects(
      startHost({ configDir, plugins: ['config', 'process'] }),
      /process: .*supervisor .* is not trusted/,
    );
  });

  t.test(`users in a file ${what} let nobody in`, { skip }, async t => {
    const configDir = testDir(t, { 'users.json': '{ "enabled": false, "users": [] }' });
    await writeConfig(configDir);
    await harm(path.join(configDir, 'users.json'));
    const app = await startHost({ configDir, plugins: ['config', 'auth', 'process'] });
    t.teardown(() => app.stop());
    t.equal((await app.get('/config')).status, 503);
  });
}

t.test('a private directory of the services’ user is trusted as far as root made what is in it', { skip }, async t => {
  const configDir = testDir(t);
  await writeConfig(configDir);
  await chown(configDir, NOBODY, NOBODY);
  const app = await startHost({ configDir, plugins: ['config', 'process'] });
  t.teardown(() => app.stop());
  t.equal((await app.get('/process/processes')).status, 200);
});

const cases: Record<string, (place: { dir: string; outside: string }) => Promise<unknown>> = {
  'an index file of another user': ({ dir }) => chown(path.join(dir, 'guest/index.js'), NOBODY, NOBODY),
  'an index file that all may write': ({ dir }) => chmod(path.join(dir, 'guest/index.js'), 0o666),
  'a module of another user': async ({ dir }) => {
    await writeFile(path.join(dir, 'guest/part.js'), '');
    await chown(path.join(dir, 'guest/part.js'), NOBODY, NOBODY);
  },
  'a folder that its group may write': ({ dir }) => chmod(path.join(dir, 'guest'), 0o775),
  'a sticky folder that all may write': ({ dir }) => chmod(path.join(dir, 'guest'), 0o1777),
  'a folder below one that all may write': ({ dir }) => chmod(dir, 0o777),
  'a folder below one of another user': ({ dir }) => chown(dir, NOBODY, NOBODY),
  'a module behind a link': async ({ dir, outside }) => {
    await writeFile(path.join(outside, 'part.js'), '');
    await chown(path.join(outside, 'part.js'), NOBODY, NOBODY);
    await symlink(path.join(outside, 'part.js'), path.join(dir, 'guest/part.js'));
  },
  'a link of another user': async ({ dir, outside }) => {
    await writeFile(path.join(outside, 'part.js'), '');
    await symlink(path.join(outside, 'part.js'), path.join(dir, 'guest/part.js'));
    await lchown(path.join(dir, 'guest/part.js'), NOBODY, NOBODY);
  },
  'a module behind a link to a link, in a directory that all may write': async ({ dir, outside }) => {
    await mkdir(path.join(outside, 'open'));
    await writeFile(path.join(outside, 'open/part.js'), '');
    await symlink('open', path.join(outside, 'way'));
    await chmod(path.join(outside, 'open'), 0o777);
    await symlink(path.join(outside, 'way/part.js'), path.join(dir, 'guest/part.js'));
  },
};

for (const [what, harm] of Object.entries(cases)) {
  t.test(`not loaded: ${what}`, { skip }, async t => {
    const root = testDir(t, { plugins: { guest: { 'index.js': SOURCE } }, outside: {} });
    const place = { dir: path.join(root, 'plugins'), outside: path.join(root, 'outside') };
    await harm(place);
    const app = await startHost({ pluginDirs: [place.dir] });
    t.teardown(() => app.stop());
    const [report] = app.host.plugins();
    t.equal(report?.state, 'failed');
    t.match(report?.reason, /(belongs to user 65534|may be written by others), .*give it to root \(chown -R\)/);
    t.equal((await app.get('/guest')).status, 404);
  });
}

t.test('loaded: root’s own folder, through root’s own link, below /tmp', { skip }, async t => {
  const root = testDir(t, { plugins: {}, outside: { guest: { 'index.js': SOURCE } } });
  await symlink(path.join(root, 'outside/guest'), path.join(root, 'plugins/guest'));
  await chmod(root, 0o1777);
  const app = await startHost({ pluginDirs: [path.join(root, 'plugins')] });
  t.teardown(() => app.stop());
  t.equal((await app.get('/guest')).status, 200);
});
