// Directories are watched through all their changes, at the cost of one inotify watch per directory.
import fs from 'node:fs';
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import t, { type Test } from 'tap';
import { watchDirectories } from '../../../core/kit/directory-watch.ts';
import { testDir } from '../../support/directory.ts';
import { mountLinks } from '../../support/link-mount.ts';
import { ROOT_ONLY } from '../../support/race.ts';
import { until } from '../../support/until.ts';

const warnings: string[] = [];
const log = { warn: (text: string) => void warnings.push(text) } as never;

/** Inotify watches of this process. */
async function inotifyWatches(): Promise<number> {
  let count = 0;
  for (const descriptor of await readdir('/proc/self/fd')) {
    const link = await readlink(`/proc/self/fd/${descriptor}`).catch(() => '');
    if (!link.includes('inotify')) continue;
    const text = await readFile(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    count += text.split('\n').filter(line => line.startsWith('inotify ')).length;
  }
  return count;
}

async function watching(t: Test, directory: string, options: { depth?: number; sinceMs?: number } = {}) {
  const seen = new Set<string>();
  const end = await watchDirectories({
    directories: [directory],
    depth: 4,
    ignored: file => file.endsWith('.ignored'),
    onChange: file => void seen.add(file),
    log,
    ...options,
  });
  t.teardown(end);
  return {
    seen,
    /** Waits until the watch reports a change of a path below the directory. */
    async tells(what: string, name: string, change: () => Promise<unknown>): Promise<void> {
      const file = path.join(directory, name);
      seen.clear();
      await change();
      t.ok(await until(() => seen.has(file), { what }), what);
    },
  };
}

t.test('every kind of change is reported', async t => {
  const root = testDir(t, {
    watched: { plain: '1', sub: { file: '1', deep: { file: '1' } } },
    elsewhere: { 'target.ignored': '1', directory: { file: '1' } },
  });
  const place = path.join(root, 'watched');
  const at = (name: string): string => path.join(place, name);
  const target = path.join(root, 'elsewhere', 'target.ignored');
  await symlink(target, at('link'));
  await symlink(path.join(root, 'elsewhere', 'directory'), at('linked'));
  const { tells, seen } = await watching(t, place);
  t.equal(seen.size, 0, 'what was there before is no change');

  await tells('a write', 'plain', () => writeFile(at('plain'), '2'));
  await tells('a replacement', 'plain', async () => {
    await writeFile(at('plain.ignored'), '3');
    await rename(at('plain.ignored'), at('plain'));
  });
  await tells('a write into the replacement', 'plain', () => writeFile(at('plain'), '4'));
  await tells('a removal', 'plain', () => unlink(at('plain')));
  await tells('a new file', 'plain', () => writeFile(at('plain'), '5'));
  await tells('a write two levels down', 'sub/deep/file', () => writeFile(at('sub/deep/file'), '2'));
  await tells('what a new directory holds', 'new/inner/file', async () => {
    await mkdir(at('new/inner'), { recursive: true });
    await writeFile(at('new/inner/file'), '1');
  });
  await tells('a later write there', 'new/inner/file', () => writeFile(at('new/inner/file'), '2'));
  await tells('the removal of a directory', 'sub', () => rm(at('sub'), { recursive: true }));
  await tells('what another one at its place holds', 'sub/file', async () => {
    await mkdir(at('sub'));
    await writeFile(at('sub/file'), '1');
  });
  await tells('a later write there', 'sub/file', () => writeFile(at('sub/file'), '2'));
  await tells('a write through a link', 'link', () => writeFile(target, '2'));
  await tells('a write below a linked directory', 'linked/file', () => writeFile(at('linked/file'), '2'));
  await tells('a link that leads elsewhere', 'link', async () => {
    await symlink('plain', at('link.ignored'));
    await rename(at('link.ignored'), at('link'));
  });
  t.notOk(
    [...seen].some(file => file.endsWith('.ignored')),
    'what is ignored is not',
  );
  t.strictSame(warnings, []);
});

t.test('a directory may appear late, disappear and return', async t => {
  const root = testDir(t, {});
  const place = path.join(root, 'parent', 'watched');
  const { tells, seen } = await watching(t, place);
  const file = path.join(place, 'file');
  await tells('a file in what was missing', 'file', async () => {
    await mkdir(place, { recursive: true });
    await writeFile(file, '1');
  });
  await tells('its removal', 'file', () => rm(path.join(root, 'parent'), { recursive: true }));
  await tells('its return', 'file', async () => {
    await mkdir(place, { recursive: true });
    await writeFile(file, '2');
  });
  seen.clear();
  await rename(place, path.join(root, 'aside'));
  await until(() => seen.has(place), { what: 'the directory that moved away' });
  await tells('another one at its place', 'file', async () => {
    await mkdir(path.join(root, 'next'));
    await writeFile(path.join(root, 'next', 'file'), '3');
    await rename(path.join(root, 'next'), place);
  });
  await tells('a later write', 'file', () => writeFile(file, '4'));
  t.strictSame(warnings, []);
});

t.test('a directory that disappears while its watch begins is watched when it returns', async t => {
  const root = testDir(t, {});
  const place = path.join(root, 'watched');
  const realStat = fs.promises.stat;
  t.teardown(() => {
    fs.promises.stat = realStat;
    syncBuiltinESMExports();
  });
  let looks = 0;
  fs.promises.stat = (async (...args: Parameters<typeof stat>) => {
    if (args[0] !== place || ++looks > 2) return await realStat(...args);
    // The directory exists only between the first two reads, while its watch begins.
    if (looks === 2) await rename(place, path.join(root, 'aside'));
    const answer = realStat(...args);
    if (looks === 1) await answer.catch(() => mkdir(place));
    return await answer;
  }) as typeof stat;
  syncBuiltinESMExports();
  const { tells } = await watching(t, place);
  t.ok(looks > 1);
  await tells('a file in another one', 'file', async () => {
    await mkdir(place);
    await writeFile(path.join(place, 'file'), '1');
  });
});

t.test('a directory that goes right after it was reported is reported again', async t => {
  const root = testDir(t, {});
  const place = path.join(root, 'watched');
  const [moved, told] = [new Set<string>(), new Set<string>()];
  const end = await watchDirectories({
    directories: [place],
    depth: 0,
    onChange(file) {
      if (moved.size > 0) told.add(file);
      else if (fs.existsSync(place)) {
        fs.renameSync(place, path.join(root, 'aside'));
        moved.add(file);
      }
    },
    log,
  });
  t.teardown(end);
  await mkdir(place);
  t.ok(await until(() => told.has(place), { what: 'the report that it has gone' }));
});

t.test('changes since a given time are reported, and older ones are not', async t => {
  const root = testDir(t, { old: '1', sub: { old: '1' } });
  const sinceMs = Date.now();
  // File times are coarse.
  await until(async () => {
    await writeFile(path.join(root, 'sub', 'young'), '1');
    await utimes(path.join(root, 'sub', 'young'), 0, 0);
    return Date.now() > sinceMs + 20;
  });
  const { seen } = await watching(t, root, { sinceMs: sinceMs + 10 });
  t.ok(seen.has(path.join(root, 'sub', 'young')));
  t.notOk(seen.has(path.join(root, 'old')) || seen.has(path.join(root, 'sub', 'old')));
});

t.test('a link that was changed since a given time is reported, however old its target is', async t => {
  const root = testDir(t, { old: { file: '1' }, places: {} });
  const place = path.join(root, 'places', 'place');
  const sinceMs = Date.now();
  // File times are coarse.
  await until(() => Date.now() > sinceMs + 20);
  await symlink(path.join(root, 'old'), place);
  t.ok((await watching(t, path.join(root, 'places'), { sinceMs: sinceMs + 10 })).seen.has(place));
  process.env.STACKWARDEN_WATCH_POLLING = '1';
  t.teardown(() => delete process.env.STACKWARDEN_WATCH_POLLING);
  const { seen } = await watching(t, path.join(root, 'places'), { sinceMs: sinceMs + 10 });
  t.ok(await until(() => seen.has(place), { what: 'the same where files are looked at' }));
});

t.test('a removal since a given time is reported for the directory', async t => {
  const root = testDir(t, { sub: { gone: '1' } });
  const sinceMs = Date.now();
  const { seen: before } = await watching(t, root, { sinceMs: sinceMs + 10 });
  t.same([...before], []);
  // File times are coarse.
  await until(() => Date.now() > sinceMs + 20);
  await rm(path.join(root, 'sub'), { recursive: true });
  const { seen } = await watching(t, root, { sinceMs: sinceMs + 10 });
  t.ok(seen.has(root));
});

t.test('a change within the millisecond of the given time is reported once that is over', async t => {
  const root = testDir(t, { file: '1' });
  const file = path.join(root, 'file');
  const ms = await until(async () => {
    await writeFile(file, '2');
    const { ctimeMs } = await stat(file);
    return ctimeMs > Math.floor(ctimeMs) ? Math.floor(ctimeMs) : undefined;
  });
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => ms;
  t.ok((await watching(t, root, { sinceMs: ms - 1 })).seen.has(file), 'though the clock has no later time yet');
  t.notOk((await watching(t, root, { sinceMs: ms })).seen.has(file));
});

t.test('files need no watches of their own', async t => {
  const files = () => Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`file-${index}`, '1']));
  const root = testDir(t, { ...files(), sub: files(), other: { ...files(), deep: files() } });
  const before = await inotifyWatches();
  await watching(t, root);
  t.equal((await inotifyWatches()) - before, 4, 'one for each directory');
});

t.test('links to a dead mount hold up nothing', { ...ROOT_ONLY, timeout: 60_000 }, async t => {
  const { dir, mount } = await mountLinks(t);
  // More than there are threads for files.
  for (const name of ['a', 'b', 'c', 'd', 'e']) await symlink(path.join(mount, 'hang', name), path.join(dir, name));
  const { tells } = await watching(t, dir, { depth: 0 });
  await tells('a file beside them', 'file', () => writeFile(path.join(dir, 'file'), ''));
});
