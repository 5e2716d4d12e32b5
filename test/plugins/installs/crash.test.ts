// A release that replaces another is whole or absent, whenever the process is killed, and kept files stay.
import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { moduleArguments } from '../../../core/kit/worker.ts';
import { testDir } from '../../support/directory.ts';
import { NOBODY, ROOT_ONLY } from '../../support/race.ts';
import { openReleases, SWAP } from '../../support/releases.ts';
import { randomNumbers, rounds } from '../../support/rounds.ts';

const run = promisify(execFile);
const OLD = { 'run.sh': 'old', 'lib/code': 'old', 'lib/cache/mine': 'mine', 'data/mine': 'mine', 'gone.txt': 'old' };
const NEW = { 'run.sh': 'new', 'lib/code': 'new', 'lib/cache/theirs': 'new', 'data/seed': 'new', 'added.txt': 'new' };
const AFTER = { 'run.sh': 'new', 'lib/code': 'new', 'lib/cache/mine': 'mine', 'data/mine': 'mine', 'added.txt': 'new' };
const OLD_PROGRAM = { 'run.sh': 'old' };
/** The moments before and after each rename of such a swap. */
const MOMENTS = 16;

async function write(directory: string, files: Record<string, string>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, file)), { recursive: true });
    await writeFile(path.join(directory, file), text);
  }
}

/** Contents of a program's files. `.stackwarden` beside them may be removed meanwhile. */
async function read(directory: string, below = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(path.join(directory, below), { withFileTypes: true })) {
    const place = path.join(below, entry.name);
    if (place === '.stackwarden') continue;
    if (entry.isDirectory()) Object.assign(found, await read(directory, place));
    else found[place] = await readFile(path.join(directory, place), 'utf8');
  }
  return found;
}

function swapper(args: readonly string[]): Promise<{ stdout: string }> {
  const beside = new URL('../../support/x.ts', import.meta.url).href;
  return run(process.execPath, [...moduleArguments('release-swapper', beside), ...args]);
}

/** Whether the process was killed at that moment. */
async function killed(args: readonly string[]): Promise<boolean> {
  return swapper(args).then(
    () => false,
    (error: { signal: string }) => {
      if (error.signal !== 'SIGKILL') throw error;
      return true;
    },
  );
}

t.test('a swap that is killed at any moment leaves a whole release', async t => {
  const given = process.env.STACKWARDEN_TEST_SEED;
  for (let round = 0; round < rounds(4); round += 1) {
    const moment = given === undefined ? 1 + randomInt(MOMENTS) : Number(given);
    const name = `round ${round}, moment ${moment}`;
    const root = testDir(t, { config: {}, program: {} });
    const [configDir, directory] = [path.join(root, 'config'), path.join(root, 'program')];
    await write(directory, OLD);
    const before = await openReleases(configDir, directory);
    const draft = await before.begin(null, true);
    await write(draft.files, NEW);
    const wasKilled = await killed(['swap', configDir, directory, draft.part, String(moment)]);
    const after = await openReleases(configDir, directory);
    // The next operation on the folder completes the swap.
    if (round % 2 === 0) await after.recover();
    else await after.discard(await after.begin(null, true));
    const found = await read(directory);
    const isNew = after.record.installed !== null;
    t.same(found, isNew ? AFTER : OLD, `${name}: ${isNew ? 'new' : 'old'}, nothing between`);
    t.equal(after.record.swap, null, name);
    if (!wasKilled) t.ok(isNew, name);
    after.clean();
    await after.cleaned();
    const left = await readdir(path.join(directory, '.stackwarden'));
    t.equal(left.length, isNew ? 1 : 0, `${name}: nothing but the release before is left beside it`);
    if (!isNew) continue;

    await killed(['restore', configDir, directory, '-', String(moment)]);
    const back = await openReleases(configDir, directory);
    await back.recover();
    const isBack = back.record.previous === null;
    t.same(await read(directory), isBack ? OLD : AFTER, `${name}: taken back, or not`);
    back.clean();
    await back.cleaned();
    if (!isBack) await back.restore();
    t.same(await read(directory), OLD, `${name}: the release before is there again`);
    await back.cleaned();
  }
});

t.test('a swap that a full disk refuses is undone at once', async t => {
  const random = randomNumbers(t);
  for (let round = 0; round < rounds(4); round += 1) {
    const moment = 1 + random(MOMENTS);
    const name = `round ${round}, moment ${moment}`;
    const root = testDir(t, { config: {}, program: {} });
    const [configDir, directory] = [path.join(root, 'config'), path.join(root, 'program')];
    await write(directory, OLD);
    const draft = await (await openReleases(configDir, directory)).begin(null, true);
    await write(draft.files, NEW);
    const { stdout } = await swapper(['swap', configDir, directory, draft.part, String(moment), 'refused']);
    const { refusal, isCutOff } = JSON.parse(stdout);
    t.equal(isCutOff, false, `${name}: ${refusal}`);
    if (refusal !== null)
      t.match(refusal, /^the file system of .* is full \(no space or no inode left\); remove files there$/);
    const present = refusal === null ? AFTER : OLD;
    t.same(await read(directory), present, name);
    const after = await openReleases(configDir, directory);
    await after.recover();
    t.same(await read(directory), present, `${name}: also for the next host`);
    t.equal(after.record.swap, null, name);
    after.clean();
    await after.cleaned();
    const left = await readdir(path.join(directory, '.stackwarden'));
    t.equal(left.length, refusal === null ? 1 : 0, `${name}: nothing but the release before is left beside it`);
    if (refusal !== null) continue;
    const { stdout: told } = await swapper(['restore', configDir, directory, '-', String(moment), 'refused']);
    t.same(await read(directory), JSON.parse(told).refusal === null ? OLD : AFTER, `${name}: ${told}`);
  }
});

t.test('a new release that was removed meanwhile is not put in place', async t => {
  const root = testDir(t, { config: {}, program: {} });
  const [configDir, directory] = [path.join(root, 'config'), path.join(root, 'program')];
  await write(directory, OLD);
  const draft = await (await openReleases(configDir, directory)).begin(null, true);
  await write(draft.files, NEW);
  // At this moment a part of the previous release has been moved aside.
  t.ok(await killed(['swap', configDir, directory, draft.part, '5']));
  await rm(draft.files, { recursive: true });
  const folder = await openReleases(configDir, directory);
  t.equal(await folder.recover(), 'taken back');
  t.same(await read(directory), OLD);
  const next = await folder.begin(null, true);
  await write(next.files, NEW);
  await folder.swap(next, ...SWAP);
  const kept = folder.record.previous?.kept?.part ?? '';
  await rm(path.join(directory, '.stackwarden', kept), { recursive: true });
  await t.rejects(folder.restore(), { status: 409, message: /is gone from .*; install one by its number/ });
  await folder.cleaned();
  t.same(await read(directory), AFTER);
});

t.test('a repeated swap changes nothing more', async t => {
  const root = testDir(t, { config: {}, program: {} });
  const [configDir, directory] = [path.join(root, 'config'), path.join(root, 'program')];
  const folder = await openReleases(configDir, directory);
  const draft = await folder.begin(null, true);
  await write(draft.files, NEW);
  await folder.swap(draft, ...SWAP);
  t.same(await read(directory), NEW, 'into an empty folder');
  t.equal(await folder.recover(), null);
  await t.rejects(folder.restore(), /no release before the present one/);
  await folder.cleaned();
});

t.test(
  'what was being made ready is removed at the next start, and what a killed host has left to build it is ended',
  async t => {
    const root = testDir(t, { config: {}, program: OLD_PROGRAM });
    const [configDir, directory] = [path.join(root, 'config'), path.join(root, 'program')];
    const draft = await (await openReleases(configDir, directory)).begin(null, true);
    await write(draft.files, NEW);
    const script = 'while mkdir -p $0/$((i += 1)); do :; done; exec sleep 1000';
    const env = { ...process.env, STACKWARDEN_BUILD: draft.files };
    const build = spawn('sh', ['-c', script, draft.files], { env, stdio: 'ignore' });
    const ended = once(build, 'exit');
    const folder = await openReleases(configDir, directory);
    folder.clean();
    await folder.cleaned();
    await ended;
    t.same(await readdir(path.join(directory, '.stackwarden')), [], 'and nothing comes back');
    t.same(await read(directory), OLD_PROGRAM);
  },
);

t.test('an entry that cannot be removed prevents nothing else', ROOT_ONLY, async t => {
  const root = testDir(t, { config: {}, program: {} });
  const [configDir, directory] = [path.join(root, 'config'), path.join(root, 'program')];
  await chown(directory, NOBODY, NOBODY);
  const folder = await openReleases(configDir, directory);
  await folder.discard(await folder.begin({ uid: NOBODY, gid: NOBODY }, true));
  const work = path.join(directory, '.stackwarden');
  const places = Array.from({ length: 8 }, (_, n) => path.join(work, `release-0000000${n}`));
  for (const place of places) await write(place, OLD_PROGRAM);
  const [held = '', ...others] = places;
  for (const place of others) await chown(place, NOBODY, NOBODY);
  const { ino } = await stat(held);
  folder.clean();
  await folder.cleaned();
  const [left = '', ...more] = await readdir(work);
  t.same(more, []);
  t.equal((await stat(path.join(work, left))).ino, ino);
});

t.test('the next load of the plugin gets a folder once its swap is done', async t => {
  const root = testDir(t, { config: {}, program: OLD_PROGRAM });
  const [configDir, directory] = [path.join(root, 'config'), path.join(root, 'program')];
  const folder = await openReleases(configDir, directory);
  const draft = await folder.begin(null, true);
  const later = await folder.begin(null, true);
  await write(draft.files, NEW);
  const swapped = folder.swap(draft, ...SWAP);
  await folder.end();
  t.same(await read(directory), NEW, 'the swap is complete');
  await swapped;
  await t.rejects(folder.swap(later, ...SWAP), {
    status: 503,
    message: /was loaded anew; start the installation again/,
  });
});
