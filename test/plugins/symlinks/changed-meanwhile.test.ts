// Changes by others between the plan of a repair and its work: their links stay, and nothing is touched on a file
// system that was exchanged.
import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { placesOf } from '../../../plugins/symlinks/places/path-rules.ts';
import type { RepairInput } from '../../../plugins/symlinks/repair/repair-input.ts';
import { repair } from '../../../plugins/symlinks/repair/repair-task.ts';
import { found, linkDir, linksOf, plant, type Tree } from '../../support/links.ts';
import { DISK_ONLY, makeDisk } from '../../support/power-loss.ts';
import { ROOT_ONLY } from '../../support/race.ts';
import { repairInput, taskResult } from '../../support/symlink-task.ts';

const ID = 'e'.repeat(32);

/** Runs a repair of `dir`. `meanwhile` is called after the plan and before the work, `done` before the end. */
async function repaired(t: Test, dir: string, input: object, meanwhile: () => void, done = () => {}) {
  const configDir = linkDir(t);
  const { backupPath } = { backupPath: path.join(configDir, 'undo.json'), ...input };
  const run = {
    id: ID,
    places: placesOf(configDir, [path.join(configDir, 'product')]),
    answerMs: 10_000,
    isStopped: false,
    onProgress(progress: () => { readonly stage: string }) {
      const { stage } = progress();
      if (stage === 'processing') meanwhile();
      if (stage === 'finalizing') done();
    },
    onBeats() {},
    useUp() {},
  };
  const given = repairInput({ ...input, backupPath }) as RepairInput;
  const result = (await repair(given, run)) as Readonly<Record<string, unknown>>;
  const undo = result.backup_manifest === null ? '' : readFileSync(backupPath, 'utf8');
  return { result, undo, links: Object.fromEntries(linksOf(dir)) };
}

const RULES = [{ from_prefix: '/old', to_prefix: '/new' }];
const LIBRARY: Tree = { one: { to: '/old/1' }, two: { to: '/old/2' }, three: { to: '/old/3' } };

function retarget(place: string, target: string): void {
  rmSync(place, { force: true });
  symlinkSync(target, place);
}

t.test('a link that has changed or is gone is left as it is', async t => {
  const dir = linkDir(t, LIBRARY);
  const { result, undo, links } = await repaired(t, dir, { roots: [dir], rules: RULES }, () => {
    retarget(path.join(dir, 'one'), '/somebody/else');
    rmSync(path.join(dir, 'two'));
  });
  t.match(result, { changed: 1, skipped_changed_during_run: 2, errors_total: 0 });
  t.same(links, { one: '/somebody/else', three: '/new/3' });
  t.match(undo, /three/);
  t.notMatch(undo, /"one"|\/one|\/two/, 'what was not done is not undone');
});

t.test('a link is checked again before it is moved, and so is its new place', async t => {
  for (const target of ['/elsewhere', '../elsewhere']) {
    const dir = linkDir(t, { from: { one: { to: target }, two: { to: target }, three: { to: target } }, to: {} });
    const migrations = [{ from_root: path.join(dir, 'from'), to_root: path.join(dir, 'to') }];
    const { result, undo, links } = await repaired(t, dir, { migrations }, () => {
      retarget(path.join(dir, 'from/one'), '/somebody/else');
      symlinkSync('/somebody/else', path.join(dir, 'to/two'));
    });
    t.match(result, { moved: 1, skipped_changed_during_run: 1, skipped_existing_destination: 1 }, target);
    t.same(links, {
      'from/one': '/somebody/else',
      'from/two': target,
      'to/two': '/somebody/else',
      'to/three': target,
    });
    t.notMatch(undo, /one|two/);
  }
});

t.test('only the link that the plan has seen is replaced', async t => {
  const dir = linkDir(t, {
    from: { one: { to: '/a' }, two: { to: '/a' } },
    to: { one: { to: '/b' }, two: { to: '/b' } },
  });
  const migrations = [{ from_root: path.join(dir, 'from'), to_root: path.join(dir, 'to') }];
  const { result, links } = await repaired(t, dir, { migrations, overwrites: true }, () =>
    retarget(path.join(dir, 'to/one'), '/somebody/else'),
  );
  t.match(result, { moved: 1, skipped_changed_during_run: 1 });
  t.same(links, { 'from/one': '/a', 'to/one': '/somebody/else', 'to/two': '/a' });
});

t.test('a link that is moved over itself, or to another file system, leaves its place', ROOT_ONLY, async t => {
  const dir = linkDir(t, { from: { one: { to: '/a' } }, to: {}, mounted: {} });
  const [from, to, mounted] = ['from', 'to', 'mounted'].map(name => path.join(dir, name)) as [string, string, string];
  linkSync(path.join(from, 'one'), path.join(to, 'one'));
  const moving = (from_root: string, to_root: string) => ({ migrations: [{ from_root, to_root }], overwrites: true });
  const first = await repaired(t, dir, moving(from, to), () => undefined);
  t.match(first.result, { moved: 1, errors_total: 0 });
  t.same(first.links, { 'to/one': '/a' });
  spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', mounted]);
  t.teardown(() => spawnSync('umount', ['-l', mounted]));
  const second = await repaired(t, dir, moving(to, mounted), () => undefined);
  t.match(second.result, { moved: 1, errors_total: 0 });
  t.same(second.links, { 'mounted/one': '/a' });
});

t.test('a foreign file in place of the undo manifest stays', async t => {
  const dir = linkDir(t, { library: LIBRARY, undo: {} });
  const backupPath = path.join(dir, 'undo/undo.json');
  const input = { roots: [path.join(dir, 'library')], rules: RULES, backupPath };
  const meanwhile = () => writeFileSync(backupPath, '{"settings": "of another program"}');
  const run = repaired(t, path.join(dir, 'library'), input, meanwhile);
  await t.rejects(run, { status: 503, message: /undo\.json\.partial, whose end cannot be written: .*no manifest/ });
  t.equal(readFileSync(backupPath, 'utf8'), '{"settings": "of another program"}');
  rmSync(backupPath);
  await taskResult('recover', { journal: backupPath }, { configDir: path.join(dir, 'config'), id: ID });
  t.match(readFileSync(backupPath, 'utf8'), /"old_target":"\/old\/1"/);
});

t.test('the journal of a change is on the disk before the change', DISK_ONLY, async t => {
  const dir = linkDir(t, { library: LIBRARY });
  const disk = makeDisk(t, path.join(dir, 'disk'));
  let left: Promise<string> | undefined;
  const input = { roots: [path.join(dir, 'library')], rules: RULES };
  const backupPath = path.join(dir, 'disk/undo.json');
  const done = () => {
    left = disk.lost(async found => readFileSync(path.join(found, 'undo.json.partial'), 'utf8'));
  };
  await repaired(t, path.join(dir, 'library'), { ...input, backupPath }, () => undefined, done);
  const text = (await left) ?? '';
  for (const target of Object.values(LIBRARY)) t.match(text, `"old_target":"${(target as { to: string }).to}"`);
});

t.test('R24: of a file system in the place of the root nothing is changed', ROOT_ONLY, async t => {
  const dir = linkDir(t, { root: LIBRARY });
  const root = path.join(dir, 'root');
  const mounted = () => {
    spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', root]);
    plant(root, LIBRARY);
  };
  t.teardown(() => spawnSync('umount', ['-l', root]));
  await t.rejects(repaired(t, root, { roots: [root], rules: RULES }, mounted), { status: 503, code: 'unmounted' });
  t.same(Object.fromEntries(linksOf(root)), { one: '/old/1', two: '/old/2', three: '/old/3' });
  spawnSync('umount', [root]);
  t.same(Object.fromEntries(linksOf(root)), { one: '/old/1', two: '/old/2', three: '/old/3' });
});

t.test('R24: nothing is moved to where the file system of the other root was', ROOT_ONLY, async t => {
  for (const below of ['', 'show', 'show/season']) {
    const dir = linkDir(t, { from: { show: { season: LIBRARY } }, to: {} });
    const [from, to] = ['from', 'to'].map(name => path.join(dir, name)) as [string, string];
    spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', to]);
    t.teardown(() => spawnSync('umount', ['-l', to]));
    mkdirSync(path.join(to, below), { recursive: true });
    const before = found(from);
    const away = () => void spawnSync('umount', [to]);
    const migrations = [{ from_root: from, to_root: to }];
    await t.rejects(repaired(t, dir, { migrations }, away), { status: 503, code: 'unmounted' }, below);
    t.same(readdirSync(to), [], below);
    t.equal(found(from), before, below);
  }
});

t.test('R24: a directory whose path leads elsewhere now costs nothing but itself', async t => {
  const dir = linkDir(t, { root: { season: LIBRARY }, other: LIBRARY });
  const roots = ['root', 'other'].map(name => path.join(dir, name));
  const { result, links } = await repaired(t, dir, { roots, rules: RULES }, () => {
    rmSync(path.join(dir, 'root'), { recursive: true });
    symlinkSync('aside', path.join(dir, 'root'));
    plant(path.join(dir, 'aside'), { season: LIBRARY });
  });
  t.match(result, { changed: 3, errors_total: 3 });
  t.match(links, { root: 'aside', 'aside/season/one': '/old/1', 'other/one': '/new/1' });
});
