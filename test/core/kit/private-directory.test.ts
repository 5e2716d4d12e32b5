// Directories of the host's own state: errors in them name the path that a user knows.
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { errorText } from '../../../core/kit/error-text.ts';
import { PrivateDirectory } from '../../../core/kit/private-directory.ts';
import { testDir } from '../../support/directory.ts';

t.test('errors name the path of the directory', async t => {
  const root = testDir(t, {});
  const directory = await PrivateDirectory.open(root, ['state', 'own']);
  t.teardown(() => directory.close());
  const own = path.join(root, 'state', 'own');
  await mkdir(path.join(own, 'folder'));
  const textOf = (work: Promise<unknown>) => work.then(() => 'no error', errorText);
  t.match(await textOf(directory.replace('folder', 'text')), `${own}/folder.`);
  t.match(await textOf(directory.replace('absent/name', 'text')), `${own}/absent/name.`);
  t.match(await textOf(directory.rename('absent', 'other')), `${own}/absent: `);
  t.match(await textOf(directory.remove('folder')), `${own}/folder`);
  t.match(await textOf(directory.read('folder/file/x', 10)), 'no error', 'what is missing is no error');
  await symlink('/etc/passwd', path.join(own, 'link'));
  for (const open of ['read', 'readHead', 'ensureFile'] as const)
    t.equal(await textOf(directory[open]('link', 10)), `${own}/link is a link; remove it`, open);
  t.match(await textOf(directory.ensureFile('absent/name')), `${own}/absent/name: `);
  t.match(await textOf(PrivateDirectory.open(own, ['x'.repeat(300)])), `${own}/xxx`);
});
