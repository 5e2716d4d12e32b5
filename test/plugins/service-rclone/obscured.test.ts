// A stored password stays as it is while it is the wanted one, although rclone would write it otherwise each time.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { obscured } from '../../../plugins/service-rclone/obscured.ts';
import { testDir } from '../../support/directory.ts';

/** Made by rclone 1.60 from `secret pass`. */
const FORM = 'pTJzpWNt4ytEuHkKwS2asSLK7t99qsfmH63b';

t.test('a new form is made only for another password', async t => {
  const dir = testDir(t, {});
  const asked = path.join(dir, 'asked');
  await writeFile(path.join(dir, 'rclone'), `#!/bin/sh\n/bin/cat > ${asked}\necho new-form\n`);
  await chmod(path.join(dir, 'rclone'), 0o755);
  const { PATH } = process.env;
  process.env.PATH = dir;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  t.equal(await obscured('secret pass', FORM), FORM);
  await t.rejects(readFile(asked), 'rclone is not asked');
  for (const present of [undefined, '', 'short', `${FORM}AA`, 'secret pass', 7])
    t.equal(await obscured('secret pass', present), 'new-form', `${present} is another`);
  t.equal(await obscured('other', FORM), 'new-form');
  t.equal(await readFile(asked, 'utf8'), 'other');
});
