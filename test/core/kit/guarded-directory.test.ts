// Directories in which others may write: symbolic links, hard links, FIFOs and exchanges by another user.
import { execFile } from 'node:child_process';
import fs, {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { writeFileAtomic } from '../../../core/kit/atomic-write.ts';
import { errorText } from '../../../core/kit/error-text.ts';
import { GuardedDirectory, giveFile } from '../../../core/kit/guarded-directory.ts';
import { isRoot, NOBODY, ROOT_ONLY, race } from '../../support/race.ts';

const run = promisify(execFile);
const SECRET = 'secret\n';
const IRREGULAR = { status: 409, message: /is no regular file; remove it/ };

/**
 * A directory in which only we may write, and one beside it that belongs to `nobody`, or in which everybody may write.
 */
async function places(t: Test): Promise<{ ours: string; theirs: string; secret: string }> {
  const root = await mkdtemp(path.join(tmpdir(), 'stackwarden-guarded-'));
  t.teardown(() => rm(root, { recursive: true }));
  const [ours, theirs] = [path.join(root, 'ours'), path.join(root, 'theirs')];
  await chmod(root, 0o755);
  await mkdir(ours, { mode: 0o755 });
  await mkdir(theirs);
  await writeFile(path.join(ours, 'secret'), SECRET);
  if (isRoot) await chown(theirs, NOBODY, NOBODY);
  else await chmod(theirs, 0o777);
  return { ours, theirs, secret: path.join(ours, 'secret') };
}

const append = (file: string, text: string) =>
  GuardedDirectory.at(file, async (directory, name) => {
    const handle = await directory.openFile(name, 'append');
    await handle.writeFile(text).finally(() => handle.close());
  });

t.test('a symbolic link is followed only where nobody else could have made it', async t => {
  const { ours, theirs, secret } = await places(t);
  await symlink(ours, path.join(theirs, 'way'));
  await symlink('secret', path.join(ours, 'alias'));
  await symlink('../theirs/way/secret', path.join(ours, 'detour'));
  await symlink(secret, path.join(theirs, 'file'));

  const refusal = {
    status: 409,
    message: /way is a file, or a link that others may have made, .*let nobody else write to /,
  };
  await t.rejects(GuardedDirectory.open(path.join(theirs, 'way')), refusal);
  await t.rejects(append(path.join(theirs, 'way', 'secret'), 'x'), refusal);
  await t.rejects(append(path.join(ours, 'detour'), 'x'), refusal, 'nor behind a link of the host');
  await t.rejects(append(path.join(theirs, 'file'), 'x'), IRREGULAR);
  await t.rejects(writeFileAtomic(path.join(theirs, 'file'), 'x'), { status: 409, message: /is a link/ });
  t.equal(await readFile(secret, 'utf8'), SECRET);

  await append(path.join(ours, 'alias'), 'more\n');
  await writeFileAtomic(path.join(ours, 'alias'), 'whole\n');
  t.equal(await readFile(secret, 'utf8'), 'whole\n', 'the host follows its own');
  t.ok((await lstat(path.join(ours, 'alias'))).isSymbolicLink());
});

t.test('irregular files are refused at once', async t => {
  const { theirs } = await places(t);
  await run('mkfifo', [path.join(theirs, 'fifo')]);
  await mkdir(path.join(theirs, 'directory'));
  await symlink('/dev/zero', path.join(theirs, 'device'));
  for (const name of ['fifo', 'directory', 'device']) {
    const file = path.join(theirs, name);
    await t.rejects(append(file, 'x'), IRREGULAR, name);
    await t.rejects(
      GuardedDirectory.at(file, (directory, last) => directory.read(last, 10)),
      IRREGULAR,
      name,
    );
  }
  await writeFileAtomic(path.join(theirs, 'fifo'), 'x');
  t.equal(await readFile(path.join(theirs, 'fifo'), 'utf8'), 'x', 'a whole file may take the place of a FIFO');
  await t.rejects(GuardedDirectory.open(path.join(theirs, 'fifo')), {
    status: 409,
    message: /fifo is a file, or a link/,
  });
});

t.test('a second hard link is neither opened nor given away', async t => {
  const { ours, theirs, secret } = await places(t);
  await link(secret, path.join(theirs, 'second'));
  await t.rejects(append(path.join(theirs, 'second'), 'x'), { status: 409, message: /second hard link/ });
  t.equal(await readFile(secret, 'utf8'), SECRET);
  await append(secret, 'x');
  t.equal(await readFile(secret, 'utf8'), `${SECRET}x`, 'where nobody else can write it is an ordinary file');

  const handle = await GuardedDirectory.at(path.join(ours, 'secret'), (directory, name) =>
    directory.openFile(name, 'update'),
  );
  t.teardown(() => handle.close());
  await giveFile(handle, { uid: NOBODY, gid: NOBODY }, { isNew: true });
  t.equal((await stat(secret)).uid, process.geteuid?.());
  await writeFileAtomic(path.join(theirs, 'second'), 'own\n', { mode: 0o600 });
  t.equal(await readFile(secret, 'utf8'), `${SECRET}x`, 'replacing takes away the name alone');
});

t.test('a replaced file keeps owner and mode, but no right of its owner', ROOT_ONLY, async t => {
  const { theirs } = await places(t);
  const file = path.join(theirs, 'service.conf');
  await writeFile(file, 'before');
  await chown(file, NOBODY, NOBODY);
  await chmod(file, 0o4755);
  await writeFileAtomic(file, 'after');
  const { uid, gid, mode } = await stat(file);
  t.match({ uid, gid, mode: mode & 0o7777 }, { uid: NOBODY, gid: NOBODY, mode: 0o755 });
  const owner = { uid: 1_234, gid: 1_235 };
  await writeFileAtomic(file, 'again', { owner });
  t.match(await stat(file), owner);
});

t.test('missing directories are created with their owner, existing ones stay as they are', async t => {
  const { theirs } = await places(t);
  const owner = { uid: 1_234, gid: 1_235 };
  const { uid } = await stat(theirs);
  await writeFileAtomic(path.join(theirs, 'a', 'b', 'file'), 'new', { owner, mode: 0o640, making: { owner } });
  const given = isRoot ? 1_234 : process.getuid?.();
  for (const name of ['a', 'a/b', 'a/b/file']) t.equal((await stat(path.join(theirs, name))).uid, given, name);
  t.equal((await stat(theirs)).uid, uid);
  await t.rejects(GuardedDirectory.open(path.join(theirs, 'none')), { code: 'ENOENT' });
});

t.test('a directory whose creation was interrupted gets its owner at the next use', ROOT_ONLY, async t => {
  const { theirs } = await places(t);
  const owner = { uid: 1_234, gid: 1_235 };
  const made = async (name: string, mode: number): Promise<string> => {
    const place = path.join(theirs, name);
    await mkdir(place);
    await chmod(place, mode);
    return place;
  };
  // The state after a host was killed between the creation of a directory and the change of its owner.
  const [left, shared, full] = [await made('left', 0o1755), await made('shared', 0o1777), await made('full', 0o1755)];
  await writeFile(path.join(full, 'file'), '');
  for (const place of [left, shared, full]) (await GuardedDirectory.open(path.join(place, 'in'), { owner })).close();
  t.match(await stat(left), { ...owner, mode: 0o40755 });
  t.match(await stat(shared), { uid: 0, mode: 0o41777 }, 'one that others may write to is no such directory');
  t.match(await stat(full), { uid: 0, mode: 0o41755 }, 'nor is one that holds something');
  const held = await made('private', 0o1700);
  (await GuardedDirectory.open(held)).close();
  t.equal((await stat(held)).uid, 0, 'it stays as it is for whoever makes nothing');
  (await GuardedDirectory.open(held, { owner, mode: 0o700 })).close();
  t.match(await stat(held), { ...owner, mode: 0o40700 });
});

t.test('a directory keeps its mark until it has its owner', ROOT_ONLY, async t => {
  const { theirs } = await places(t);
  const place = path.join(theirs, 'made');
  const owner = { uid: 1_234, gid: 1_235 };
  const { chown: change } = fs;
  const repair = () => {
    fs.chown = change;
    syncBuiltinESMExports();
  };
  t.teardown(repair);
  fs.chown = () => Promise.reject(Object.assign(new Error('EIO: i/o error, chown'), { code: 'EIO' }));
  syncBuiltinESMExports();
  await t.rejects(GuardedDirectory.open(place, { owner }), { code: 'EIO' });
  repair();
  (await GuardedDirectory.open(place, { owner })).close();
  t.match(await stat(place), { ...owner, mode: 0o40755 });
});

t.test('an open directory stays the same when its path is exchanged', async t => {
  const { ours } = await places(t);
  const directory = await GuardedDirectory.open(ours);
  t.teardown(() => directory.close());
  t.ok(directory.isInPlace());
  t.same(await directory.names(), ['secret']);
  await rename(ours, `${ours}.moved`);
  await mkdir(ours);
  t.notOk(directory.isInPlace());
  t.equal(String(await directory.read('secret', 100)), SECRET);
  await rm(`${ours}.moved`, { recursive: true });
  t.notOk(directory.isInPlace());
  for (const name of ['..', '.', '', 'a/b']) await t.rejects(directory.stat(name), /is no name in a directory/);
});

t.test('10,000 exchanges by another user never lead outside', ROOT_ONLY, async t => {
  const { ours, theirs, secret } = await places(t);
  const [folder, way, log, alias, fifo] = ['folder', 'way', 'log', 'alias', 'fifo'].map(name =>
    path.join(theirs, name),
  ) as [string, string, string, string, string];
  const attacker = { uid: NOBODY, gid: NOBODY };
  await mkdir(folder);
  await writeFile(path.join(folder, 'secret'), 'theirs\n');
  await writeFile(log, 'theirs\n');
  await symlink(ours, way);
  await symlink(secret, alias);
  await run('mkfifo', [fifo]);
  await run('chown', ['-hR', `${NOBODY}:${NOBODY}`, theirs]);

  const part = path.join(theirs, 'part');
  const parts = await race({
    place: part,
    others: [folder, way],
    rounds: 5_000,
    work: async () => {
      const read = await GuardedDirectory.at(path.join(part, 'secret'), (directory, name) => directory.read(name, 100));
      if (String(read) === SECRET) t.fail('an outside file was read');
    },
  });
  t.ok(parts > 0, `${parts} times the directory itself was met`);

  const last = path.join(theirs, 'last');
  const files = await race({
    place: last,
    others: [log, alias, fifo],
    rounds: 5_000,
    work: () =>
      GuardedDirectory.at(last, async (directory, name) => {
        const handle = await directory.openFile(name, 'update');
        await handle
          .truncate(0)
          .then(() => giveFile(handle, attacker))
          .finally(() => handle.close());
      }),
  });
  t.ok(files > 0, `${files} times the file itself was met`);
  t.equal(await readFile(secret, 'utf8'), SECRET);
  t.equal((await stat(secret)).uid, 0);
});

t.test('errors and their causes name paths that users know', async t => {
  const { ours, theirs } = await places(t);
  await mkdir(path.join(ours, 'folder'));
  await writeFile(path.join(ours, "it's"), '');
  await symlink('/dev/null', path.join(theirs, 'link'));
  const [from, to] = await Promise.all([ours, theirs].map(place => GuardedDirectory.open(place)));
  if (from === undefined || to === undefined) throw new Error('no directory');
  t.teardown(() => from.close());
  t.teardown(() => to.close());
  const textOf = async (work: Promise<unknown>): Promise<string> => {
    const texts: string[] = [];
    let error: unknown = await work.catch(fault => fault);
    for (; error instanceof Error; error = error.cause) texts.push(error.message, errorText(error));
    const all = texts.join('\n');
    t.notMatch(all, '/proc/self/fd');
    return all;
  };
  t.match(
    await textOf(to.openFile('link', 'read')),
    `ELOOP: too many symbolic links encountered, open '${theirs}/link'`,
  );
  t.match(await textOf(to.enter('link')), `ENOTDIR: not a directory, open '${theirs}/link'`);
  t.match(await textOf(GuardedDirectory.open(path.join(theirs, 'link', 'on'))), `open '${theirs}/link'`);
  t.match(await textOf(from.enter('absent')), `${ours}/absent: no such file`);
  t.match(await textOf(from.enter('x'.repeat(300), {})), `${ours}/xxx`);
  t.match(await textOf(GuardedDirectory.at(path.join(ours, 'x'.repeat(300)), () => undefined)), `lstat '${ours}/xxx`);
  t.match(await textOf(from.move('absent', to, 'other')), `rename '${ours}/absent' -> '${theirs}/other'`);
  t.match(await textOf(from.removeDirectory("it's")), `${ours}/it's: not a directory`);

  await rm(theirs, { recursive: true });
  t.match(await textOf(to.enter('more', {})), `'${theirs} (deleted)/more'`);
});
