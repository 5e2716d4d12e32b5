// The copy of the configuration that a start makes: the start does not wait until it is on the disk, but a save and the
// end do.
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { openConfig } from '../../../core/config/open.ts';
import { testDir } from '../../support/directory.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const OLD = '{ "tz": "UTC" }';

/** Holds back every sync of a file until `release` is called; `begun` resolves at the first. */
async function heldSyncs(test: Test): Promise<{ readonly begun: Promise<void>; release: () => void }> {
  const handle = await open(process.execPath);
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const { sync } = prototype;
  let letGo = (): void => undefined;
  const released = new Promise<void>(resolve => {
    letGo = resolve;
  });
  const release = () => {
    prototype.sync = sync;
    letGo();
  };
  test.teardown(release);
  const begun = new Promise<void>(resolve => {
    prototype.sync = async function held(this: typeof handle) {
      resolve();
      await released;
      await sync.call(this);
    };
  });
  return { begun, release };
}

t.test('a start does not wait for the syncs of the copy, a save does', { timeout: 20_000 }, async t => {
  const configDir = testDir(t, { 'stackwarden.json': OLD });
  const file = path.join(configDir, 'stackwarden.json');
  const { begun, release } = await heldSyncs(t);
  const config = await openConfig({ configDir, log: quiet, env: {} });
  await begun;
  t.equal(config.store.get('tz'), 'UTC', 'it is in use');
  await t.rejects(readFile(`${file}.bak`), { code: 'ENOENT' }, 'while the copy is not stored');

  const saved = config.store.update({ updates: { tz: 'Europe/Berlin' }, persist: true, actor: 'test' });
  release();
  await saved;
  t.equal(await readFile(`${file}.bak`, 'utf8'), OLD, 'the copy holds what was read');
  t.match(JSON.parse(await readFile(file, 'utf8')), { tz: 'Europe/Berlin' });
  await config.close();
});

t.test('the end waits for the copy', { timeout: 20_000 }, async t => {
  const configDir = testDir(t, { 'stackwarden.json': OLD });
  const { begun, release } = await heldSyncs(t);
  const config = await openConfig({ configDir, log: quiet, env: {} });
  await begun;
  const closed = config.close();
  release();
  await closed;
  t.equal(await readFile(path.join(configDir, 'stackwarden.json.bak'), 'utf8'), OLD);
});
