// Folders of services in a data directory that is a mount of its own: they are linked, moved once, and never mixed or
// lost.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, rmdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { DISK_ONLY, makeDisk } from '../../support/power-loss.ts';

const skip = process.getuid?.() !== 0 || !existsSync(`${pluginsDir}/data-links`);
const FOLDERS = ['fresh', 'bare', 'full', 'torn', 'mine', 'elsewhere', 'held'];

function mountMemory(t: Test, place: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', place]);
  t.teardown(() => execFileSync('umount', [place]));
}

/** Whether files can be made immutable here. */
function canLock(t: Pick<Test, 'testdir' | 'teardown'>): boolean {
  const file = path.join(testDir(t, { file: '' }), 'file');
  if (spawnSync('chattr', ['+i', file]).status !== 0) return false;
  execFileSync('chattr', ['-i', file]);
  return true;
}

/**
 * Starts a host with one service for each folder, from templates that name it. `mounts`: which places become mounts.
 */
async function open(t: Test, mounts: readonly string[], mount: (t: Test, place: string) => void = mountMemory) {
  const dir = testDir(t, {
    folders: { bare: {}, full: { 'a.db': 'data', sub: { b: 'more' } }, torn: { 'a.db': 'old' } },
  });
  const folders = path.join(dir, 'folders');
  const data = path.join(dir, 'data');
  await mkdir(data);
  for (const place of mounts.map(name => (name === 'data' ? data : path.join(folders, name)))) {
    await mkdir(place, { recursive: true });
    mount(t, place);
  }
  const configDir = path.join(dir, 'config');
  await mkdir(path.join(configDir, 'templates/services'), { recursive: true });
  for (const key of FOLDERS) {
    const template = {
      key,
      displayName: key,
      kind: 'optional',
      description: 'A service with a folder.',
      links: {},
      block: {
        enabled: false,
        process_name: key,
        command: ['sleep', '600'],
        config_dir: path.join(key === 'elsewhere' ? dir : folders, key),
        suppress_logging: true,
      },
      launch: {},
      stop: { tier: 2 },
      dataLinks: [{ path: path.join(folders, key), under: `${key}_data` }],
    };
    await writeFile(path.join(configDir, 'templates/services', `${key}.json`), JSON.stringify(template));
  }
  const app = await startHost({
    plugins: 'offline',
    configDir,
    config: { data_root: `${data}/`, bare: { user: 'daemon' } },
  });
  t.teardown(() => app.stop());
  return { app, folders, data };
}

t.test('folders are moved to a data directory that is a mount, and linked', { skip }, async t => {
  const { app, folders, data } = await open(t, ['data', 'mine']);
  await mkdir(path.join(data, 'torn_data'));
  await writeFile(path.join(data, 'torn_data/a.db'), 'new');
  await mkdir(path.join(folders, 'held'));
  await writeFile(path.join(folders, 'held/big'), Buffer.alloc(128 * 1024));
  for (const name of FOLDERS) t.equal((await start(app, name)).status, 200, name);

  for (const name of ['fresh', 'bare', 'full'])
    t.equal(await readlink(path.join(folders, name)), path.join(data, `${name}_data`), name);
  t.match(await lstat(path.join(data, 'fresh_data')), { uid: 65_534, gid: 65_534 });
  t.match(await lstat(path.join(data, 'bare_data')), { uid: 1, gid: 1 }, 'the user of its block');
  t.equal(await readFile(path.join(data, 'full_data/sub/b'), 'utf8'), 'more', 'what it held has moved');
  t.same(
    (await readdir(folders)).sort(),
    ['bare', 'fresh', 'full', 'held', 'mine', 'torn'],
    'nothing is left beside them',
  );

  t.equal(await readFile(path.join(folders, 'torn/a.db'), 'utf8'), 'old', 'data on both sides is not mixed');
  t.equal(await readFile(path.join(data, 'torn_data/a.db'), 'utf8'), 'new');
  t.ok((await lstat(path.join(folders, 'mine'))).isDirectory(), 'a mount stays');
  t.notOk(existsSync(path.join(folders, 'elsewhere')), 'one that keeps its files elsewhere has no use for a link');
  t.equal((await lstat(path.join(folders, 'held/big'))).size, 128 * 1024, 'what does not fit stays where it is');
  t.notOk((await readdir(data)).some(name => name.includes('incoming')));

  const { chunk } = (await app.get('/logs?process_name=DUMB')).body;
  t.match(chunk, /torn and .*torn_data both hold data/);
  t.match(chunk, /held was not moved to .*No space left/s);
  await app.post('/process/restart-service', { process_name: 'full' });
  t.equal(await readFile(path.join(folders, 'full/a.db'), 'utf8'), 'data', 'and a restart finds it there');
});

t.test('what a killed host has left of moved folders is removed', { skip }, async t => {
  const { app, folders, data } = await open(t, ['data']);
  for (const name of ['bare', 'fresh', 'full', 'mine']) {
    await mkdir(path.join(folders, `.moved-${name}-0123abcd/sub`), { recursive: true });
    if (name !== 'full') await mkdir(path.join(data, `${name}_data`));
  }
  t.comment('the link had been made');
  await rmdir(path.join(folders, 'bare'));
  await symlink(path.join(data, 'bare_data'), path.join(folders, 'bare'));
  await writeFile(path.join(data, 'bare_data/a.db'), 'data');
  t.comment('it had not');
  await writeFile(path.join(data, 'fresh_data/a.db'), 'data');
  t.comment('another data directory was mounted since');
  await symlink(path.join(data, 'mine_data'), path.join(folders, 'mine'));
  await mkdir(path.join(folders, 'bare.moved'));
  await mkdir(path.join(folders, '.moved-bare-and-0123abcd'));
  for (const name of ['bare', 'fresh', 'full', 'mine']) t.equal((await start(app, name)).status, 200, name);
  t.same(
    (await readdir(folders)).filter(name => name.includes('moved')).sort(),
    ['.moved-bare-and-0123abcd', '.moved-mine-0123abcd', 'bare.moved'],
    'neither the only copy nor what others have made',
  );
  for (const name of ['bare', 'fresh']) t.equal(await readFile(path.join(folders, name, 'a.db'), 'utf8'), 'data', name);
  t.equal(await readFile(path.join(folders, 'full/a.db'), 'utf8'), 'data');
});

t.test('a moved folder that cannot be removed is told as moved', { skip: skip || !canLock(t) }, async t => {
  const { app, folders, data } = await open(t, ['data']);
  const unlock = () => execFileSync('find', [folders, '-name', 'b', '-exec', 'chattr', '-i', '{}', '+']);
  t.teardown(unlock);
  execFileSync('chattr', ['+i', path.join(folders, 'full/sub/b')]);
  t.equal((await start(app, 'full')).status, 200);
  t.equal(await readlink(path.join(folders, 'full')), path.join(data, 'full_data'));
  const left = async () => (await readdir(folders)).find(name => name.startsWith('.moved-full-'));
  const { chunk } = (await app.get('/logs?process_name=DUMB')).body;
  t.match(chunk, `${path.join(folders, (await left()) ?? 'none')}, which is left of it, cannot be removed`);
  t.match(chunk, /full was moved to /);
  t.notMatch(chunk, 'was not moved');
  unlock();
  await app.post('/process/restart-service', { process_name: 'full' });
  t.equal(await left(), undefined, 'the next start tries again');
});

t.test('a moved folder survives a loss of power', DISK_ONLY, async t => {
  const disks: ReturnType<typeof makeDisk>[] = [];
  const { app } = await open(t, ['data'], (t, place) => disks.push(makeDisk(t, place)));
  t.equal((await start(app, 'full')).status, 200);
  await disks[0]?.lost(async found => {
    t.equal(await readFile(path.join(found, 'full_data/a.db'), 'utf8'), 'data');
    t.equal(await readFile(path.join(found, 'full_data/sub/b'), 'utf8'), 'more');
  });
});

t.test('nothing is linked when the data directory is a plain directory', { skip }, async t => {
  const { app, folders } = await open(t, []);
  await start(app, 'full');
  t.ok((await lstat(path.join(folders, 'full'))).isDirectory());
});
