// The kept releases of a program that is installed in the machine itself.
import t from 'tap';
import { MachineReleases } from '../../../plugins/installs/machine-releases.ts';
import { testDir } from '../../support/directory.ts';

t.test('releases of another key that begins in the same way stay', async t => {
  const releases = new MachineReleases(testDir(t, {}));
  const keep = async (key: string, version: string) => releases.keep(await releases.draft(), key, version);
  const old = await keep('app', '1');
  const present = await keep('app', '2');
  const other = await keep('app-beta', '1');
  t.equal(await releases.find('app', '1'), old);
  await releases.keepOnly('app', ['2']);
  t.equal(await releases.find('app', '1'), null);
  t.equal(await releases.find('app', '2'), present);
  t.equal(await releases.find('app-beta', '1'), other);
});
