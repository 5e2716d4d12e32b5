// Directories are created with their parents, also where the kernel creates none.
import { stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { makeDirectory } from '../../../core/kit/make-directory.ts';
import { testDir } from '../../support/directory.ts';

t.test('creation at once, of an existing directory or a link to one, succeeds', async t => {
  const root = testDir(t, {});
  const deep = path.join(root, 'a', 'b', 'c');
  await makeDirectory(deep, { mode: 0o700 });
  await makeDirectory(deep);
  t.equal((await stat(path.join(root, 'a'))).mode & 0o777, 0o700);
  await symlink(deep, path.join(root, 'link'));
  await makeDirectory(path.join(root, 'link'));
  await Promise.all([1, 2, 3].map(() => makeDirectory(path.join(root, 'x', 'y'))));
  t.ok((await stat(path.join(root, 'x', 'y'))).isDirectory());
});

t.test('a file in the way or a dangling link is an error', async t => {
  const root = testDir(t, {});
  const file = path.join(root, 'file');
  await writeFile(file, '');
  await t.rejects(makeDirectory(file), { code: 'EEXIST' });
  await t.rejects(makeDirectory(path.join(file, 'below')), { code: 'ENOTDIR' });
  await symlink(path.join(root, 'nowhere'), path.join(root, 'link'));
  await t.rejects(makeDirectory(path.join(root, 'link')), { code: 'EEXIST' });
});

t.test('the error names the first directory that the kernel does not create', async t => {
  await t.rejects(makeDirectory('/proc/stackwarden/a/b'), { code: 'ENOENT', path: '/proc/stackwarden' });
});
