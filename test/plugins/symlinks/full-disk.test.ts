// A disk that becomes full while links are repaired or saved: what was done is reported and can be undone, and nothing
// half-written remains.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { startHost } from '../../support/host.ts';
import { found, linkDir, linksOf, type Tree } from '../../support/links.ts';
import { isRoot } from '../../support/race.ts';
import { repairInput, restoreInput, startTaskChild, taskResult } from '../../support/symlink-task.ts';
import { until } from '../../support/until.ts';

const ROOT_ONLY = { skip: isRoot ? false : 'only root can mount' };
const FOLDERS = 24;
const LINKS = 100;
/** A long path fills a disk with few links. */
const NAME = Array.from({ length: 4 }, () => 'n'.repeat(150)).join('/');
const RULES = [{ from_prefix: '/old', to_prefix: '/new' }];
const MIB = 2 ** 20;
const ID = 'b'.repeat(32);

const library: Tree = Object.fromEntries(
  Array.from({ length: FOLDERS }, (_, folder) => [
    `show${folder}`,
    Object.fromEntries(Array.from({ length: LINKS }, (_, link) => [`e${link}`, { to: `/old/${folder}/${NAME}` }])),
  ]),
);

/** Links, and a directory for the host's files on a disk with so much room. */
function place(t: Test, roomMib: number) {
  const dir = linkDir(t, { config: {}, root: library });
  const configDir = path.join(dir, 'config');
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${roomMib * MIB}`, 'none', configDir]);
  t.teardown(() => spawnSync('umount', ['-l', configDir]));
  const root = path.join(dir, 'root');
  const written = (): string[] => {
    const names = readdirSync(configDir, { recursive: true, withFileTypes: true });
    return names.filter(entry => entry.isFile()).map(({ name }) => name);
  };
  return { configDir, root, written, run: startTaskChild(t, { configDir, id: ID }) };
}

t.test('a repair ends early, and is undone by its manifest', ROOT_ONLY, async t => {
  const { configDir, root, written, run } = place(t, 5);
  const before = found(root);
  const undo = path.join(configDir, 'undo.json');
  const end = await run('repair', repairInput({ roots: [root], rules: RULES, backupPath: undo }));
  t.equal(end.kind, 'failure');
  const { message = '' } = end.kind === 'failure' ? end.failure : {};
  const told = /^(\S+) cannot be written: its disk is full .* Before that (\d+) links were .*; (\S+) undoes it\.$/.exec(
    message,
  );
  t.equal(told?.[1], `${undo}.partial`, message);
  t.equal(told?.[3], undo);
  const changed = [...linksOf(root).values()].filter(target => target.startsWith('/new'));
  t.equal(Number(told?.[2]), changed.length);
  t.ok(changed.length > 0 && changed.length < FOLDERS * LINKS, `${changed.length} links`);
  t.notOk(written().some(name => name.endsWith('.partial')));
  t.notOk(found(root).includes('.slr-'));
  await taskResult('restore', restoreInput({ manifestPath: undo, overwrites: true }), { configDir, id: ID });
  t.equal(found(root), before);
});

t.test('a journal without room for its end is completed by the next start', ROOT_ONLY, async t => {
  const dir = linkDir(t, { config: {}, undo: {}, root: library });
  const [configDir, undoDir, root] = ['config', 'undo', 'root'].map(name => path.join(dir, name)) as [
    string,
    string,
    string,
  ];
  const size = (mib: number) => `size=${mib * MIB}`;
  spawnSync('mount', ['-t', 'tmpfs', '-o', size(4), 'none', undoDir]);
  t.teardown(() => spawnSync('umount', ['-l', undoDir]));
  const before = found(root);
  const undo = path.join(undoDir, 'undo.json');
  const start = () => startHost({ configDir, plugins: ['symlinks'] });
  const first = await start();
  t.teardown(() => first.stop());
  const body = { roots: [root], rewrite_rules: [{ from_prefix: '/old', to_prefix: '/new' }], backup_path: undo };
  const end = await first.post('/process/symlink-repair', { ...body, dry_run: false });
  t.match(end, {
    status: 503,
    body: { detail: new RegExp(`^${FOLDERS * LINKS} links were changed.* ${undo}\\.partial, .*disk is full`) },
  });
  t.same(readdirSync(undoDir), ['undo.json.partial']);
  await first.stop();
  spawnSync('mount', ['-o', `remount,${size(20)}`, undoDir]);
  const next = await start();
  t.teardown(() => next.stop());
  await until(() => readdirSync(undoDir).join() === 'undo.json');
  const restored = await until(async () => {
    const answer = await next.post('/process/symlink-manifest/restore', {
      manifest_path: undo,
      dry_run: false,
      overwrite_existing: true,
    });
    return answer.status === 200 && answer.body;
  });
  t.match(restored, { restored: FOLDERS * LINKS, errors: [] });
  t.equal(found(root), before);
});

t.test('a journal without room for its beginning blocks no other', ROOT_ONLY, async t => {
  const dir = linkDir(t, { config: {}, undo: {}, root: { link: { to: '/old/1' } } });
  const [configDir, undoDir, root] = ['config', 'undo', 'root'].map(name => path.join(dir, name)) as [
    string,
    string,
    string,
  ];
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${MIB}`, 'none', undoDir]);
  t.teardown(() => spawnSync('umount', ['-l', undoDir]));
  t.throws(() => writeFileSync(path.join(undoDir, 'other'), Buffer.alloc(2 * MIB)), { code: 'ENOSPC' });
  const run = startTaskChild(t, { configDir, id: ID });
  const undo = path.join(undoDir, 'undo.json');
  const input = repairInput({ roots: [root], rules: RULES, backupPath: undo });
  t.match(await run('repair', input), { kind: 'failure', failure: { code: 'disk_full' } });
  t.same(readdirSync(undoDir), ['other']);
  rmSync(path.join(undoDir, 'other'));
  t.comment('as a loss of power may leave it');
  writeFileSync(`${undo}.partial`, '');
  t.match(await run('recover', { journal: undo }), { kind: 'result' });
  t.match(await run('repair', input), { kind: 'result', result: { changed: 1 } });
  t.same(readdirSync(undoDir), ['undo.json']);
});

t.test('a list of changes without room is left out', ROOT_ONLY, async t => {
  const { root, written, run } = place(t, 1);
  const end = await run('repair', repairInput({ roots: [root], rules: RULES, dryRun: true }));
  t.match(end, {
    kind: 'result',
    result: {
      changes_total: FOLDERS * LINKS,
      truncated: true,
      report_path: null,
      errors_total: 1,
      errors: [{ error: /\.jsonl cannot be written: its disk is full/ }],
    },
  });
  t.same(written(), []);
});

t.test('a failed snapshot names its file, and the previous one stays', ROOT_ONLY, async t => {
  const { configDir, root, written, run } = place(t, 1);
  mkdirSync(path.join(configDir, 'snapshots'));
  const file = path.join(configDir, 'snapshots/latest.json');
  writeFileSync(file, '{"manifest_type":"symlink_snapshot","entries":[]}');
  const input = { backupPath: file, roots: [root], includeBroken: true, allowEmpty: false, processName: null };
  const end = await run('backup', { ...input, owner: null, mountsDown: [] });
  t.match(end, { kind: 'failure', failure: { status: 500 } });
  const { message = '' } = end.kind === 'failure' ? end.failure : {};
  t.ok(message.startsWith(`${file} cannot be written: its disk is full`), message);
  t.same(written(), ['latest.json']);
  t.match(readFileSync(file, 'utf8'), /"entries":\[\]/);
});
