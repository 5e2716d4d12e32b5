// The settings file of a service that is brought back, also when that is repeated after it was cut off.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { backUp, putBackSettings } from '../../../plugins/postgres-migration/backup.ts';

t.test('the present file is kept by the first of several tries', async t => {
  const home = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const backup = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  for (const directory of [home, backup]) t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = path.join(home, 'config.xml');
  const kept = () => readFile(path.join(backup, 'config.xml.before-rollback'), 'utf8');
  await writeFile(file, 'on SQLite');
  const copied = await backUp(backup, 'config.xml', file, { signal: AbortSignal.any([]) });
  await writeFile(file, 'on PostgreSQL');
  await writeFile(`${file}.123-0123abcd.tmp`, 'what a killed host has left');
  for (let tries = 0; tries < 2; tries += 1) {
    await putBackSettings(backup, copied, { keepsPresent: true });
    t.equal(await readFile(file, 'utf8'), 'on SQLite');
    t.equal(await kept(), 'on PostgreSQL');
  }
  await writeFile(file, 'changed since');
  await putBackSettings(backup, copied, { keepsPresent: true });
  t.equal(await kept(), 'changed since');
  t.same(await readdir(home), ['config.xml']);
});
