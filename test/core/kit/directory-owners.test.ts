// Which service a directory belongs to that is named after a service.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { recordedOwner, recordOwner } from '../../../core/kit/directory-owners.ts';
import { GuardedDirectory } from '../../../core/kit/guarded-directory.ts';
import { testDir } from '../../support/directory.ts';

t.test('the recorded owner of a directory is found again, and no other name is taken for it', async t => {
  const directory = testDir(t);
  const place = await GuardedDirectory.open(directory);
  t.teardown(() => place.close());
  t.equal(await recordedOwner(place, 'a'), null, 'no records at all');
  const long = 'x'.repeat(255);
  for (const [name, owner] of [
    ['a', 'Ä'],
    ['a', 'Ä!'],
    [long, `${long}!`],
  ] as const) {
    await recordOwner(place, name, owner);
    t.equal(await recordedOwner(place, name), owner);
  }
  t.equal(await recordedOwner(place, 'b'), null);
  const owners = path.join(directory, '.owners');
  t.same((await readdir(owners)).sort(), ['a', long]);

  await writeFile(path.join(owners, 'a'), '');
  t.equal(await recordedOwner(place, 'a'), null, 'emptied by a loss of power');
  await mkdir(path.join(owners, 'c'));
  await t.rejects(recordOwner(place, 'c', 'C'), { code: 'EISDIR' });
  t.same((await readdir(owners)).sort(), ['a', 'c', long], 'nothing is left of what could not be kept');
});

t.test('the first record of a host removes what a killed one has left half-written', async t => {
  const directory = testDir(t, { '.owners': { '.0123456789abcdef': 'A', '.mine': '', a: 'A' } });
  const place = await GuardedDirectory.open(directory);
  t.teardown(() => place.close());
  await Promise.all(['b', 'c'].map(name => recordOwner(place, name, name)));
  t.same((await readdir(path.join(directory, '.owners'))).sort(), ['.mine', 'a', 'b', 'c']);
});
