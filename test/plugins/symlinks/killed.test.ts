// A repair whose child process is killed at any moment: each link is the old or the new one, none is missing, nothing
// else remains, and the journal undoes the changes.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { found, linkDir, linksOf, plant, type Tree } from '../../support/links.ts';
import { isRoot } from '../../support/race.ts';
import { rounds } from '../../support/rounds.ts';
import { repairInput, restoreInput, startTask, taskResult } from '../../support/symlink-task.ts';
import { until } from '../../support/until.ts';

/** Steps of this fraction of a span never meet the same moment again. */
const GOLDEN = 0.618_033_988_75;
const FOLDERS = 30;
const LINKS = 50;
const ID = 'a'.repeat(32);

type Change = Readonly<Record<string, string | null>>;

interface Kind {
  /** The directory to which links are moved, below that of the test. */
  readonly to?: string;
  readonly rewrites?: true;
  readonly overwrites?: true;
  readonly copies?: true;
}

const KINDS: Readonly<Record<string, Kind>> = {
  rewrite: { rewrites: true },
  move: { to: 'to' },
  'move to another file system': { to: 'other/to' },
  'move over others': { to: 'to', overwrites: true },
  copy: { to: 'to', copies: true },
  'rewrite, then move': { to: 'to', rewrites: true },
};

const library: Tree = Object.fromEntries(
  Array.from({ length: FOLDERS }, (_, folder) => [
    `show${folder}`,
    Object.fromEntries(Array.from({ length: LINKS }, (_, link) => [`e${link}`, { to: `/old/${folder}/e${link}` }])),
  ]),
);

/** As one text, because comparing maps of thousands of links is slow. */
function textOf(links: ReadonlyMap<string, string>): string {
  return JSON.stringify([...links]);
}

function mountTmpfs(t: Test, directory: string): void {
  spawnSync('mount', ['-t', 'tmpfs', 'none', directory]);
  t.teardown(() => spawnSync('umount', ['-l', directory]));
}

/** Resolves when the run has begun to write its journal, or has ended. */
async function journaled(backupPath: string, child: ChildProcess): Promise<number> {
  const isBegun = () => existsSync(`${backupPath}.partial`) || child.exitCode !== null || child.signalCode !== null;
  await until(isBegun, { intervalMs: 1 });
  return performance.now();
}

for (const [kind, { to, rewrites = false, overwrites = false, copies = false }] of Object.entries(KINDS)) {
  const isElsewhere = to?.startsWith('other/') === true;
  t.test(kind, { skip: isElsewhere && !isRoot ? 'only root can mount' : false }, async t => {
    const dir = linkDir(t);
    // In memory, because on a busy disk an operation may take seconds.
    if (isRoot) mountTmpfs(t, dir);
    const home = path.join(dir, 'home');
    plant(home, { other: {} });
    if (isElsewhere) mountTmpfs(t, path.join(home, 'other'));
    const from = path.join(home, 'from');
    const backupPath = path.join(dir, 'undo.json');
    const input = repairInput({
      roots: [from],
      rules: rewrites ? [{ from_prefix: '/old', to_prefix: '/new' }] : [],
      migrations: to === undefined ? [] : [{ from_root: from, to_root: path.join(home, to) }],
      overwrites,
      copies,
      backupPath,
    });
    const options = { configDir: dir, id: ID };
    const undo = restoreInput({ manifestPath: backupPath });
    const reset = (): void => {
      for (const place of ['from', to ?? ''])
        if (place !== '') rmSync(path.join(home, place), { recursive: true, force: true });
      rmSync(backupPath, { force: true });
      plant(from, library);
      if (overwrites) plant(path.join(home, 'to'), { show1: { e1: { to: '/other' } } });
    };
    reset();
    const before = linksOf(home);
    const entries = found(home);
    const begunAt = performance.now();
    const whole = startTask('repair', input, options);
    const plannedMs = (await journaled(backupPath, whole.child)) - begunAt;
    t.equal((await whole.ended)?.kind, 'result');
    const spanMs = performance.now() - begunAt;
    const after = linksOf(home);
    t.not(textOf(after), textOf(before));
    /** The targets that each link may have during the run. */
    const allowed = (place: string): (string | undefined)[] => {
      const inFrom = to === undefined ? place : place.replace(new RegExp(`^${to}/`), 'from/');
      const old = before.get(inFrom) ?? '';
      return [before.get(place), after.get(place), old, rewrites ? old.replace(/^\/old/, '/new') : old];
    };
    const count = rounds(1);
    let cut = 0;
    for (let round = 1; round <= count; round += 1) {
      const moment = (round * GOLDEN) % 1;
      reset();
      const { child, ended } = startTask('repair', input, options);
      // One kill in four comes at any moment, the others while links are changed.
      if (round % 4 === 0) await delay(moment * plannedMs);
      else {
        await journaled(backupPath, child);
        await delay(moment * (spanMs - plannedMs));
      }
      child.kill('SIGKILL');
      await ended;
      await taskResult('recover', { journal: backupPath }, options);
      const now = linksOf(home);
      t.same(
        [...now].filter(([place, target]) => !allowed(place).includes(target)),
        [],
        `at ${moment}`,
      );
      const lost = [...before.keys()].filter(
        place => !now.has(place) && !(to !== undefined && now.has(place.replace(/^from/, to))),
      );
      t.same(lost, [], 'none is missing');
      const changes: Change[] = existsSync(backupPath) ? JSON.parse(readFileSync(backupPath, 'utf8')).changes : [];
      const named = new Set(changes.flatMap(change => [change.link_path, change.source_path, change.target_path]));
      const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
        place => now.get(place) !== before.get(place),
      );
      t.same(
        changed.filter(place => !named.has(path.join(home, place))),
        [],
        'the journal names what changed',
      );
      if (changed.length > 0 && changed.length < before.size) cut += 1;
      if (changes.length > 0) await taskResult('restore', undo, options);
      t.equal(found(home), entries, 'undone, with the directories that it made');
    }
    t.comment(`${count} moments, ${cut} of them with a part of the links changed`);
  });
}
