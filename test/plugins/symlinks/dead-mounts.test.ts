// File systems that hang, answer slowly, or vanish in the middle of a repair.
import { existsSync, linkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { placesOf } from '../../../plugins/symlinks/places/path-rules.ts';
import { TaskProcesses } from '../../../plugins/symlinks/tasks/task-process.ts';
import { mountLinks } from '../../support/link-mount.ts';
import { found, linkDir, linksOf, plant } from '../../support/links.ts';
import { ROOT_ONLY } from '../../support/race.ts';
import { repairInput, restoreInput, startTask, taskResult } from '../../support/symlink-task.ts';
import { until } from '../../support/until.ts';

const ID = 'c'.repeat(32);
const RULES = [{ from_prefix: '/old', to_prefix: '/new' }];
const STALL_MS = 4_000;
/** To list them takes longer than a silence may. */
const SLOW_FOLDERS = 8;

t.test('targets that do not answer count as existing, and the run goes on', ROOT_ONLY, async t => {
  const { dir, mount, end } = await mountLinks(t);
  const root = path.join(dir, 'root');
  plant(root, {
    a: { one: { to: `${mount}/hang/x` }, two: { to: `${mount}/hang/y` } },
    b: { gone: { to: path.join(dir, 'no/file') }, there: { to: dir } },
  });
  const input = repairInput({ roots: [root], rules: [{ from_prefix: dir, to_prefix: '/new' }], includeBroken: false });
  const { ended, answered } = startTask(
    'repair',
    { ...input, dryRun: true },
    { configDir: dir, id: ID, answerMs: 500 },
  );
  const message = await answered;
  // A thread that hangs keeps its process until the file system is gone.
  end();
  await ended;
  t.match(message, {
    kind: 'result',
    isUsedUp: true,
    result: { changed: 3, skipped_nonexistent_target: 1, errors: [{ link_path: mount, error: /does not answer/ }] },
  });
});

t.test('slow roots are walked, with progress', ROOT_ONLY, async t => {
  const { dir, mount } = await mountLinks(t, { folders: 20, links: 10, delayMs: 5 });
  const heard: unknown[] = [];
  const options = { configDir: dir, id: ID, heard: (message: unknown) => heard.push(message) };
  const result = await taskResult('repair', repairInput({ roots: [mount], rules: RULES, dryRun: true }), options);
  t.match(result, { scanned_symlinks: 200, changed: 200, errors: [] });
  t.ok(heard.length > 0, 'progress');
});

t.test('a root that vanishes ends the run with an error', ROOT_ONLY, async t => {
  const { dir, mount, end } = await mountLinks(t, { folders: 300, links: 10, delayMs: 5 });
  const local = path.join(dir, 'local');
  plant(local, { x: { to: '/elsewhere' } });
  const before = found(local);
  let isVanished = false;
  const heard = (message: { kind: string; progress?: { processed_items?: unknown } }): void => {
    if (isVanished || message.kind !== 'progress' || message.progress?.processed_items === 0) return;
    isVanished = end();
  };
  const input = repairInput({ roots: [mount, local], rules: RULES, backupPath: path.join(dir, 'undo.json') });
  const message = await startTask('repair', input, { configDir: dir, id: ID, heard: heard as () => void }).ended;
  t.equal(message?.kind, 'result', JSON.stringify(message));
  const result = message?.kind === 'result' ? (message.result as Record<string, unknown>) : {};
  t.ok(isVanished);
  t.equal(result.changed, 0);
  t.ok((result.errors_total as number) > 0);
  t.equal(found(local), before);
});

t.test('an abandoned task changes nothing when its answer comes at last', ROOT_ONLY, async t => {
  const [first, second] = [await mountLinks(t), await mountLinks(t)];
  const dir = linkDir(t, { root: {}, earlier: {}, later: {} });
  const at = (place: string): string => path.join(dir, place);
  const part = (...entries: object[]): unknown[] => [...entries, ...Array(512 - entries.length).fill(null)];
  const to = (name: string, target: string) => ({ link_path: at(`root/${name}`), target });
  const entries = [
    ...part(to('hangs', `${first.mount}/hang/x`), to('link', at('earlier'))),
    ...part(to('link', at('later'))),
    to('waits', `${second.mount}/hang/x`),
  ];
  writeFileSync(at('manifest.json'), JSON.stringify({ manifest_type: 'symlink_snapshot', entries }));
  const heard = (message: { kind: string; progress?: { processed_entries?: unknown } }): void => {
    if (message.progress?.processed_entries === 1_024) first.end();
  };
  const input = restoreInput({ manifestPath: at('manifest.json'), overwrites: true, restoreBroken: false });
  const options = { configDir: dir, id: ID, answerMs: 2_000, heard: heard as () => void };
  const { ended, answered } = startTask('restore', input, options);
  t.match(await answered, { kind: 'result', result: { restored: 4, errors_total: 2 } });
  second.end();
  await ended;
  t.equal(linksOf(at('root')).get('link'), at('later'));
});

t.test(
  'a root that hangs ends the job as stalled, and nothing else writes before its child is gone',
  ROOT_ONLY,
  async t => {
    const { dir, mount, end } = await mountLinks(t);
    const open = () => {
      const limits = { stallMs: STALL_MS, answerMs: 1_000 };
      const processes = new TaskProcesses(placesOf(dir, [path.join(dir, 'product')]), limits);
      t.teardown(() => processes.close());
      return processes;
    };
    const [processes, reading] = [open(), open()];
    const { signal } = new AbortController();
    const input = repairInput({ roots: [path.join(mount, 'hang')], rules: RULES });
    /** Whether the abandoned child process delays others. */
    const stalls = async (own: TaskProcesses, call: object) => {
      const run = own.run({ task: 'repair', input, id: ID, signal, ...call });
      await t.rejects(run, { status: 503, code: 'stalled' });
      return own.hasAbandoned;
    };
    const reads = { input: { ...input, dryRun: true } };
    t.same(
      await Promise.all([stalls(processes, { stopMs: 100, writes: true }), stalls(reading, reads)]),
      [true, false],
      "one that only reads is in nobody's way",
    );
    end();
    await until(() => !processes.hasAbandoned);
  },
);

t.test('to tidy many slow directories may take long', ROOT_ONLY, async t => {
  const { dir, mount } = await mountLinks(t, { folders: SLOW_FOLDERS, delayMs: 100 });
  const slow = Array.from({ length: SLOW_FOLDERS }, (_, folder) => path.join(mount, `d${folder}/l0`));
  const temporary = `.slr-${ID.slice(0, 6)}000000`;
  plant(dir, { restored: { [temporary]: { to: '/new' } }, repaired: { [temporary]: { to: '/new' } } });
  const manifest = path.join(dir, 'manifest.json');
  const entries = [...slow, path.join(dir, 'restored/x')].map(link => ({ link_path: link, target: '/old' }));
  writeFileSync(manifest, JSON.stringify({ manifest_type: 'symlink_snapshot', entries }));
  const journal = path.join(dir, 'undo.json');
  const changes = [...slow, path.join(dir, 'repaired/x')].map(link => ({
    link_path: link,
    old_target: '/old',
    new_target: '/new',
  }));
  const lines = changes.map(line => `${JSON.stringify(line)},\n`);
  writeFileSync(`${journal}.partial`, `{"manifest_type":"symlink_repair",\n"changes": [\n${lines.join('')}`);
  const tidy = async (task: 'tidy-restore' | 'recover', input: object) => {
    const limits = { stallMs: STALL_MS, answerMs: 1_000 };
    const processes = new TaskProcesses(placesOf(dir, [path.join(dir, 'product')]), limits);
    t.teardown(() => processes.close());
    await processes.run({ task, input, id: ID, signal: new AbortController().signal, writes: true });
  };
  await Promise.all([tidy('tidy-restore', { manifestPath: manifest }), tidy('recover', { journal })]);
  t.notOk(found(path.join(dir, 'restored')).includes('.slr-'));
  t.notOk(found(path.join(dir, 'repaired')).includes('.slr-'));
  t.ok(existsSync(journal));
});

t.test('to look through many large manifests may take long', async t => {
  const dir = linkDir(t);
  const at = (day: number) => path.join(dir, `links-2026010${day}.json`);
  // Read as a whole, although no element is an entry.
  const text = JSON.stringify({ manifest_type: 'symlink_snapshot', entries: Array(1_000_000).fill(null) });
  writeFileSync(at(1), text);
  for (const day of [2, 3, 4, 5, 6, 7]) linkSync(at(1), at(day));
  let signs = 0;
  const input = {
    name: { template: path.join(dir, 'links-{date}.json'), processName: 'Files' },
    keep: 6,
    manifest: at(7),
    entries: 1_000_000,
    errors: 0,
    missingRoots: [],
  };
  const heard = (): void => {
    signs += 1;
  };
  t.match(await taskResult('prune', input, { configDir: dir, id: ID, heard }), { pruned: [at(1)] });
  t.ok(signs > 1, 'the host hears that it goes on');
});
