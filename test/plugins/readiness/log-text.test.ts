// The text of a readiness is found in the log that a service writes itself, whatever becomes of its files.
import { appendFile, copyFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { LogText } from '../../../plugins/readiness/log-text.ts';
import { testDir } from '../../support/directory.ts';

const MISSING = 'the text of its log has not come yet';

t.test('a log with a date in its name is the newest file that fits', async t => {
  const dir = testDir(t, { 'app-1.log': 'one listens\n', 'app-2.log': 'one listens\n', 'other.log': 'it listens\n' });
  // Files that are written within one tick of the kernel would be equally new.
  const ages = async (name: string, seconds: number) => utimes(path.join(dir, name), seconds, seconds);
  await ages('app-1.log', 1);
  await ages('app-2.log', 2);
  const log = await LogText.from(path.join(dir, 'app-<date>.log'), 'listens');
  t.equal(await log.look(), MISSING, 'lines of earlier runs');
  await appendFile(path.join(dir, 'app-1.log'), 'it ');
  t.equal(await log.look(), MISSING);
  await appendFile(path.join(dir, 'app-1.log'), 'listens\n');
  t.equal(await log.look(), null, 'a file that was there before');

  await ages('app-1.log', 3);
  const again = await LogText.from(path.join(dir, 'app-<date>.log'), 'listens');
  await writeFile(path.join(dir, 'app-3.log'), 'it listens\n');
  t.equal(await again.look(), null, 'a new file');

  await ages('app-3.log', 2);
  const last = await LogText.from(path.join(dir, 'app-<date>.log'), 'is up');
  await appendFile(path.join(dir, 'app-3.log'), 'it is up\n');
  await writeFile(path.join(dir, 'app-4.log'), 'the next day\n');
  t.equal(await last.look(), null, 'a line that was written just before the next file');
});

t.test('a log with a date in its name may appear later', async t => {
  const dir = testDir(t);
  const log = await LogText.from(path.join(dir, 'app-<date>.log'), 'listens');
  t.equal(await log.look(), MISSING);
  await writeFile(path.join(dir, 'app-1.log'), 'it listens\n');
  t.equal(await log.look(), null);
});

t.test('a log that is started again counts from its beginning', async t => {
  const dir = testDir(t, { 'app.log': 'first run\nit listens\n' });
  const file = path.join(dir, 'app.log');
  const log = await LogText.from(file, 'listens');
  await writeFile(file, `second run\nit listens\n${'line\n'.repeat(2_000)}`);
  t.equal(await log.look(), null, 'before the first look');

  const next = await LogText.from(file, 'is up');
  await appendFile(file, 'more\n');
  t.equal(await next.look(), MISSING);
  await writeFile(file, `third run\nis up\n${'word\n'.repeat(4_000)}`);
  t.equal(await next.look(), null, 'between two looks');
});

t.test('a log that goes on counts from where it was at the launch', async t => {
  const dir = testDir(t, { 'app.log': `it listens\n${'line\n'.repeat(2_000)}` });
  const file = path.join(dir, 'app.log');
  const log = await LogText.from(file, 'listens');
  await appendFile(file, 'line\n');
  t.equal(await log.look(), MISSING);
  await appendFile(file, 'it list');
  t.equal(await log.look(), MISSING);
  await appendFile(file, 'ens\n');
  t.equal(await log.look(), null, 'in two parts');
});

t.test('a rotated log counts from its beginning', async t => {
  for (const how of ['a new file', 'the same file']) {
    const dir = testDir(t, { 'app.log': 'first run\nit listens\n' });
    const file = path.join(dir, 'app.log');
    const log = await LogText.from(file, 'listens');
    if (how === 'a new file') await rename(file, `${file}.1`);
    else await copyFile(file, `${file}.1`);
    await truncate(file, 0).catch(() => undefined);
    await appendFile(file, 'it listens\n');
    t.equal(await log.look(), null, how);
    await rm(file);
  }
});

t.test('a line that was written before the log was rotated counts, lines of earlier runs do not', async t => {
  for (const rotated of ['app-2026-01-02_1.log', 'app.log.1']) {
    const dir = testDir(t, {
      'app.log': 'it listens\n',
      'app-2026-01-01_1.log': 'it listens\n',
      'app.log.7': 'it listens\n',
    });
    const file = path.join(dir, 'app.log');
    const log = await LogText.from(file, 'listens');
    await rename(file, path.join(dir, rotated));
    await writeFile(file, 'a new file\n');
    t.equal(await log.look(), MISSING, 'lines of earlier runs');
    await appendFile(file, 'now it listens\n');
    await rename(file, path.join(dir, 'app-2026-01-02_2.log'));
    await writeFile(file, 'one more\n');
    t.equal(await log.look(), null, 'the rest of a file that was looked at');

    const again = await LogText.from(file, 'is up');
    await rename(file, path.join(dir, 'app-2026-01-02_3.log'));
    await writeFile(path.join(dir, 'app-2026-01-02_4.log'), 'it is up\n');
    t.equal(await again.look(), null, 'a file that no look has seen, while there is no present one');
  }
});

t.test('a log that grows by much between two looks is read to its end', async t => {
  const dir = testDir(t, { 'app.log': '' });
  const file = path.join(dir, 'app.log');
  const log = await LogText.from(file, 'listens');
  await appendFile(file, `${'a line\n'.repeat(500_000)}it listens\n`);
  t.equal(await log.look(), null);
});

t.test('an unreadable log is reported', async t => {
  const log = await LogText.from(path.join(testDir(t), 'absent', 'app.log'), 'listens');
  t.equal(await log.look(), `${MISSING}, and the log cannot be read`);
});
