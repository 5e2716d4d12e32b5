// Threads of a child process are reused by the next task, without data or counts of the previous one.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { placesOf } from '../../../plugins/symlinks/places/path-rules.ts';
import { TaskProcesses } from '../../../plugins/symlinks/tasks/task-process.ts';
import { plant } from '../../support/links.ts';
import { repairInput } from '../../support/symlink-task.ts';

t.test('threads of one task are reused by the next', async t => {
  const dir = t.testdir();
  const places = placesOf(dir, [path.join(dir, 'product')]);
  const root = path.join(dir, 'root');
  plant(root, { a: { one: { to: '/old/x' }, two: { to: '/other/x' } }, b: { three: { to: '/old/y' } } });
  mkdirSync(path.join(places.stateDir, 'snapshots'), { recursive: true });
  const processes = new TaskProcesses(places, { stallMs: 60_000, answerMs: 10_000 });
  t.teardown(() => processes.close());
  const { signal } = new AbortController();
  let pid = 0;
  const began = async (own: number): Promise<void> => {
    t.ok(pid === 0 || pid === own, 'one child for all tasks');
    pid = own;
  };
  const run = (task: 'check-repair' | 'repair' | 'backup', input: object) =>
    processes.run({ task, input, id: 'd'.repeat(32), signal, began });
  const rewriting = (from_prefix: string) =>
    repairInput({ dryRun: true, roots: [root], rules: [{ from_prefix, to_prefix: '/new' }] });
  // Node starts the threads of its pool when they are first needed.
  const isOfPool = (id: string): boolean => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').startsWith('libuv-');
  const threads = (): string[] => readdirSync(`/proc/${pid}/task`).filter(id => !isOfPool(id));

  await run('check-repair', rewriting('/old'));
  const before = threads();
  t.match(await run('repair', rewriting('/old')), { scanned_symlinks: 3, changed: 2, changes_total: 2 });
  const after = threads();
  t.ok(after.length > before.length, 'threads wait when their task has ended');
  t.match(await run('repair', rewriting('/other')), { scanned_symlinks: 3, changed: 1, changes_total: 1 });
  const backup = { processName: null, backupPath: path.join(places.stateDir, 'snapshots/x.json'), roots: [root] };
  t.match(
    await run('backup', { ...backup, includeBroken: false, allowEmpty: false, owner: null, mountsDown: [] }),
    { scanned_symlinks: 3, recorded_entries: 0, skipped_broken: 3 },
    'a thread becomes another shard',
  );
  t.same(
    threads().filter(id => !before.includes(id)),
    after.filter(id => !before.includes(id)),
    'none was started anew',
  );
});
