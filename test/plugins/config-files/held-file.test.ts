// A service or an editor that writes a file while the host saves it loses nothing.
import { chmod, open, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { holdFile } from '../../../plugins/config-files/held-file.ts';
import { testDir } from '../../support/directory.ts';

const CHANGES: Readonly<Record<string, (file: string) => Promise<void>>> = {
  'rewritten in place, as long as before': file => writeFile(file, 'a: 7\n'),
  'replaced, as editors do': async file => {
    await writeFile(`${file}.new`, 'a: 7\n');
    await rename(`${file}.new`, file);
  },
};

for (const [name, change] of Object.entries(CHANGES)) {
  t.test(name, async t => {
    const file = path.join(testDir(t, { 'a.yaml': 'a: 1\n' }), 'a.yaml');
    const saved = holdFile(file, async held => {
      await held.read();
      await change(file);
      await held.write('a: 2\n');
    });
    await t.rejects(saved, { status: 409, message: /read it again/ });
    t.equal(await readFile(file, 'utf8'), 'a: 7\n', 'what the other has written stays');
  });

  t.test(`${name}, while the new content is on its way to the disk`, async t => {
    const dir = testDir(t, { 'a.yaml': 'a: 1\n' });
    const file = path.join(dir, 'a.yaml');
    const handle = await open(file);
    const prototype = Object.getPrototypeOf(handle) as typeof handle;
    await handle.close();
    const { sync } = prototype;
    t.teardown(() => {
      prototype.sync = sync;
    });
    prototype.sync = async function slow(this: typeof handle) {
      prototype.sync = sync;
      await change(file);
      await sync.call(this);
    };
    const saved = holdFile(file, async held => {
      await held.read();
      await held.write('a: 2\n');
    });
    await t.rejects(saved, { status: 409, message: /read it again/ });
    t.equal(await readFile(file, 'utf8'), 'a: 7\n', 'what the other has written stays');
    t.same(await readdir(dir), ['a.yaml'], 'and nothing is left beside it');
  });
}

t.test('a change of the mode alone does not prevent a save', async t => {
  const file = path.join(testDir(t, { 'a.yaml': 'a: 1\n' }), 'a.yaml');
  await holdFile(file, async held => {
    await held.read();
    await chmod(file, 0o600);
    await held.write('a: 2\n');
  });
  t.equal(await readFile(file, 'utf8'), 'a: 2\n');
});
