// Line 8: what the host makes, moves, reads and removes as root in directories of services stays in them, whatever
// links and FIFOs their user puts there.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { findRunningServer } from '../../plugins/service-postgres/running-server.ts';
import { findServerPrograms } from '../../plugins/service-postgres/server-program.ts';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { start } from '../support/kids.ts';
import { NOBODY, ROOT_ONLY } from '../support/race.ts';

const OWNER = { uid: NOBODY, gid: NOBODY };

/** A directory of `nobody`, and one of root beside it. */
async function open(t: Test) {
  const dir = testDir(t, { own: {}, outside: { 'a.pid': 'of root\n' } });
  const [own, outside] = [path.join(dir, 'own'), path.join(dir, 'outside')];
  for (const place of [dir, outside]) await chmod(place, 0o755);
  await chown(own, NOBODY, NOBODY);
  const link = async (name: string, target = outside) => {
    execFileSync('ln', ['-s', target, path.join(own, name)], OWNER);
    return path.join(own, name);
  };
  const nothingOutsideChanged = async () => {
    t.same(await readdir(outside), ['a.pid']);
    t.match(await lstat(outside), { uid: 0, gid: 0 });
  };
  return { dir, own, outside, link, nothingOutsideChanged };
}

/** A host with one service, whose template says what is done before its start. */
async function startService(t: Test, dir: string, template: object, config: object = {}) {
  const configDir = path.join(dir, 'config');
  await mkdir(path.join(configDir, 'templates/services'), { recursive: true });
  const whole = {
    key: 'player',
    displayName: 'Player',
    kind: 'optional',
    description: 'A service.',
    links: {},
    stop: { tier: 2 },
    launch: {},
    ...template,
  };
  await writeFile(path.join(configDir, 'templates/services/player.json'), JSON.stringify(whole));
  const app = await startHost({
    plugins: ['config', 'logs', 'process', 'services', 'setup', 'data-links'],
    configDir,
    config: { dumb: { gateway: { enabled: false } }, ...config },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Player');
  const { chunk } = (await app.get('/logs?process_name=DUMB')).body as { chunk: string };
  return { answer, chunk };
}

const block = (configDir: string) => ({
  enabled: false,
  process_name: 'Player',
  command: ['sleep', '600'],
  config_dir: configDir,
  suppress_logging: true,
});

t.test('a directory is not made behind a link of the service', ROOT_ONLY, async t => {
  const { dir, link, nothingOutsideChanged } = await open(t);
  const behind = path.join(await link('way'), 'inside');
  const { answer } = await startService(t, dir, { block: block(behind) });
  t.match(answer, { status: 409, body: { detail: /way is a file, or a link that others may have made/ } });
  await nothingOutsideChanged();
});

t.test('a leftover is not removed behind a link of the service', ROOT_ONLY, async t => {
  const { dir, own, link, nothingOutsideChanged } = await open(t);
  await link('state');
  const { answer } = await startService(t, dir, { block: block(own), setup: { remove: ['{config_dir}/state/a.pid'] } });
  t.equal(answer.status, 409);
  await nothingOutsideChanged();
});

t.test('a folder behind a link of the service is not moved', ROOT_ONLY, async t => {
  const { dir, own, link, nothingOutsideChanged } = await open(t);
  const data = path.join(dir, 'data');
  await mkdir(data);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', data]);
  t.teardown(() => execFileSync('umount', [data]));
  const folder = path.join(await link('way'), 'folder');
  const template = { block: block(own), dataLinks: [{ path: folder, under: 'player' }] };
  const { answer, chunk } = await startService(t, dir, template, { data_root: data });
  t.equal(answer.status, 200);
  t.match(chunk, /folder was not moved to .*way is a file, or a link that others may have made/s);
  await nothingOutsideChanged();
});

t.test('data moves with the rights of the services’ user alone', ROOT_ONLY, async t => {
  const { dir, own } = await open(t);
  const data = path.join(dir, 'data');
  await mkdir(data);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', data]);
  t.teardown(() => execFileSync('umount', [data]));
  const folder = path.join(own, 'folder');
  await mkdir(folder);
  await writeFile(path.join(folder, 'secret'), 'of root', { mode: 0o600 });
  const template = { block: block(folder), dataLinks: [{ path: folder, under: 'player' }] };
  const { chunk } = await startService(t, dir, template, { data_root: data });
  t.match(chunk, /folder was not moved to .*Permission denied/s);
  t.same(await readdir(folder), ['secret']);
  t.notOk(existsSync(path.join(data, 'player/secret')));
});

t.test('a FIFO in the place of a server’s pid file holds nothing up', ROOT_ONLY, async t => {
  const { own } = await open(t);
  execFileSync('mkfifo', [path.join(own, 'postmaster.pid')], OWNER);
  t.equal(await findRunningServer(own, () => []), null);
});

t.test('what is no file in the place of a data directory’s version holds nothing up', ROOT_ONLY, async t => {
  const { own, link } = await open(t);
  const without = await findServerPrograms(own, '');
  execFileSync('mkfifo', [path.join(own, 'PG_VERSION')], OWNER);
  t.equal(await findServerPrograms(own, ''), without);
  await rm(path.join(own, 'PG_VERSION'));
  await link('PG_VERSION', '/dev/zero');
  t.equal(await findServerPrograms(own, ''), without);
});

t.test('links and FIFOs in the places of backups hold up no start, and are not followed', ROOT_ONLY, async t => {
  const { own, outside, nothingOutsideChanged } = await open(t);
  await writeFile(path.join(own, 'stackwarden.json'), '{}');
  execFileSync('mkfifo', [path.join(own, 'stackwarden.json.bak')]);
  await symlink(path.join(outside, 'made'), path.join(own, 'stackwarden.json.bak.1'));
  const app = await startHost({ plugins: ['config'], configDir: own });
  await app.stop();
  t.equal(
    await readFile(path.join(own, 'stackwarden.json.bak'), 'utf8'),
    await readFile(path.join(own, 'stackwarden.json'), 'utf8'),
  );
  await nothingOutsideChanged();
});
