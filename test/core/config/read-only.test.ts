// A configuration that is opened for reading leaves its directory as it is.
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { openConfig } from '../../../core/config/open.ts';
import { testDir } from '../../support/directory.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const open = (configDir: string) => openConfig({ configDir, log: quiet, env: {}, readOnly: true });

/** Names, contents and times of all entries of a directory. */
async function stateOf(directory: string) {
  const names = (await readdir(directory)).sort();
  return Promise.all(
    names.map(async name => {
      const file = path.join(directory, name);
      const { mtimeMs, ino, mode } = await stat(file);
      return [name, await readFile(file, 'utf8'), mtimeMs, ino, mode];
    }),
  );
}

t.test('a directory without a configuration stays empty', async t => {
  const configDir = testDir(t, {});
  const config = await open(configDir);
  t.equal(config.store.get('dumb.api_service.port'), 8_000, 'the defaults are read');
  t.equal(config.store.state, 'valid');
  await config.close();
  t.same(await readdir(configDir), []);
});

t.test('backups and remains of an interrupted write are left alone', async t => {
  const configDir = testDir(t, {
    'stackwarden.json': '{ "tz": "UTC" }',
    'stackwarden.json.bak': '{ "tz": "older" }',
    'stackwarden.json.123-0123abcd.tmp': '{ "tz"',
  });
  const before = await stateOf(configDir);
  const config = await open(configDir);
  t.equal(config.store.get('tz'), 'UTC');
  await config.close();
  t.same(await stateOf(configDir), before);
});

t.test('a damaged file is read through its backup, and updates act in memory only', async t => {
  const configDir = testDir(t, { 'stackwarden.json': '{ "tz": ', 'stackwarden.json.bak': '{ "tz": "older" }' });
  const before = await stateOf(configDir);
  const config = await open(configDir);
  t.match(config.store, { state: 'recovered', stateReason: /stackwarden\.json:1:/ });
  t.equal(config.store.get('tz'), 'older');
  const result = await config.store.update({ updates: { tz: 'new' }, persist: true, actor: 'test' });
  t.match(result, { persisted: false, changed: ['tz'], overridden: [] });
  t.equal(config.store.get('tz'), 'new');
  await config.close();
  t.same(await stateOf(configDir), before);
});

t.test('a configuration that is opened for use is created and backed up', async t => {
  const configDir = testDir(t, {});
  const config = await openConfig({ configDir, log: quiet, env: {} });
  await config.close();
  t.ok(existsSync(path.join(configDir, 'stackwarden.json')));
  t.ok(existsSync(path.join(configDir, 'stackwarden.json.bak')));
});

t.test('a backup that cannot be made is logged with the name of the file', async t => {
  const configDir = testDir(t, {
    'stackwarden.json': '{ "tz": "UTC" }',
    'stackwarden.json.bak.3': { file: 'of somebody' },
    'stackwarden.json.bak.4': { file: 'of somebody' },
  });
  const told: string[] = [];
  const config = await openConfig({ configDir, log: { ...quiet, warn: text => told.push(text) }, env: {} });
  await config.close();
  t.same(told, [`no backup of ${configDir}/stackwarden.json could be made`]);
});
