// A backup and a restore whose child process is killed at any moment: the manifest is the old or the new one, each link
// is the old one or that of the manifest, none is missing, and a repeated request completes the work.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { linkDir, linksOf, plant, type Tree } from '../../support/links.ts';
import { isRoot } from '../../support/race.ts';
import { rounds } from '../../support/rounds.ts';
import { restoreInput, startTask, taskResult } from '../../support/symlink-task.ts';
import { until } from '../../support/until.ts';

/** Steps of this fraction of a span never meet the same moment again. */
const GOLDEN = 0.618_033_988_75;
const FOLDERS = 30;
const LINKS = 50;
const ID = 'b'.repeat(32);

const library = (target: string): Tree =>
  Object.fromEntries(
    Array.from({ length: FOLDERS }, (_, folder) => [
      `show${folder}`,
      Object.fromEntries(
        Array.from({ length: LINKS }, (_, link) => [`e${link}`, { to: `/${target}/${folder}/${link}` }]),
      ),
    ]),
  );
/** The library before a restore: other targets, and nothing for the last folders. */
const changed: Tree = Object.fromEntries(Object.entries(library('other')).slice(0, FOLDERS - 5));

/** As one text, because comparing maps of thousands of links is slow. */
const textOf = (links: ReadonlyMap<string, string>): string => JSON.stringify([...links]);

function open(t: Test) {
  const dir = linkDir(t);
  // In memory, because on a busy disk an operation may take seconds.
  if (isRoot) {
    spawnSync('mount', ['-t', 'tmpfs', 'none', dir]);
    t.teardown(() => spawnSync('umount', ['-l', dir]));
  }
  const root = path.join(dir, 'library');
  const manifest = path.join(dir, 'manifests', 'library.json');
  const options = { configDir: path.join(dir, 'config'), id: ID };
  const backup = {
    processName: null,
    backupPath: manifest,
    roots: [root],
    includeBroken: true,
    allowEmpty: false,
    owner: null,
    mountsDown: [],
  };
  return { root, manifest, options, backup };
}

/** How long the run takes from the moment at which its child process has begun. */
async function spanOf(begun: Promise<unknown>, ended: Promise<unknown>): Promise<number> {
  await begun;
  const begunAt = performance.now();
  await ended;
  return performance.now() - begunAt;
}

/** Resolves when the child process has sent its first message, or has ended. */
function heardFirst(start: (heard: () => void) => ReturnType<typeof startTask>) {
  let heard: () => void = () => undefined;
  const begun = new Promise<void>(resolve => {
    heard = resolve;
  });
  const task = start(() => heard());
  return { ...task, begun: Promise.race([begun, task.ended]) };
}

async function killAt(child: ChildProcess, begun: Promise<unknown>, ms: number): Promise<void> {
  await begun;
  await delay(ms);
  child.kill('SIGKILL');
}

t.test('a killed backup leaves the old or the new manifest', async t => {
  const { root, manifest, options, backup } = open(t);
  plant(root, library('old'));
  await taskResult('backup', backup, options);
  const old = readFileSync(manifest, 'utf8');
  rmSync(root, { recursive: true });
  plant(root, library('new'));
  const before = textOf(linksOf(root));
  const start = () => startTask('backup', backup, options);
  /** Resolves when the child process has begun to write, or has ended. */
  const written = (child: ChildProcess) => {
    const file = path.join(path.dirname(manifest), `.library.json.${child.pid}.tmp`);
    return until(() => existsSync(file) || child.exitCode !== null, { intervalMs: 1 });
  };
  const first = start();
  const spanMs = await spanOf(written(first.child), first.ended);
  const counts = { old: 0, new: 0 };
  for (let round = 1; round <= rounds(2); round += 1) {
    const moment = (round * GOLDEN) % 1;
    writeFileSync(manifest, old);
    const { child, ended } = start();
    await killAt(child, written(child), moment * spanMs);
    await ended;
    const text = readFileSync(manifest, 'utf8');
    if (text === old) counts.old += 1;
    else {
      counts.new += 1;
      const targets = JSON.parse(text).entries.map((entry: { target: string }) => entry.target);
      t.equal(targets.filter((target: string) => target.startsWith('/new/')).length, FOLDERS * LINKS, `at ${moment}`);
    }
    t.equal(textOf(linksOf(root)), before);
  }
  t.comment(JSON.stringify(counts));
  await taskResult('backup', backup, options);
  t.same(readdirSync(path.dirname(manifest)).sort(), ['.library.json.bak', 'library.json'], 'nothing else is left');
});

t.test('a killed restore leaves each link old or restored', async t => {
  const { root, manifest, options, backup } = open(t);
  plant(root, library('old'));
  await taskResult('backup', backup, options);
  const whole = linksOf(root);
  const reset = (): void => {
    rmSync(root, { recursive: true });
    plant(root, changed);
  };
  reset();
  const before = linksOf(root);
  const input = restoreInput({ manifestPath: manifest, overwrites: true });
  const start = () => heardFirst(heard => startTask('restore', input, { ...options, heard }));
  const first = start();
  const spanMs = await spanOf(first.begun, first.ended);
  t.equal(textOf(linksOf(root)), textOf(whole));
  let cut = 0;
  for (let round = 1; round <= rounds(2); round += 1) {
    const moment = (round * GOLDEN) % 1;
    reset();
    const { child, ended, begun } = start();
    await killAt(child, begun, moment * spanMs);
    await ended;
    await taskResult('tidy-restore', { manifestPath: manifest }, options);
    const now = linksOf(root);
    t.same(
      [...now].filter(([place, target]) => target !== whole.get(place) && target !== before.get(place)),
      [],
      `at ${moment}`,
    );
    t.same(
      [...before.keys()].filter(place => !now.has(place)),
      [],
      'none is missing',
    );
    if (textOf(now) !== textOf(before) && textOf(now) !== textOf(whole)) cut += 1;
    await taskResult('restore', input, options);
    t.equal(textOf(linksOf(root)), textOf(whole), 'the same restore ends it');
  }
  t.comment(`${cut} of them with a part of the links restored`);
});

t.test('a temporary link that a restore has left is removed', async t => {
  const { root, manifest, options, backup } = open(t);
  plant(root, library('old'));
  await taskResult('backup', backup, options);
  const before = textOf(linksOf(root));
  plant(root, {
    [`.slr-${ID.slice(0, 6)}0a0b0c`]: { to: '/left' },
    show1: { [`.slr-${ID.slice(0, 6)}0a0b0c`]: { to: '/left' } },
  });
  plant(root, { show1: { '.slr-0123456789ab': { to: '/of another' } } });
  await taskResult('tidy-restore', { manifestPath: manifest }, options);
  const left = [...linksOf(root).keys()].filter(place => place.includes('.slr-'));
  t.same(
    left,
    [`.slr-${ID.slice(0, 6)}0a0b0c`, 'show1/.slr-0123456789ab'],
    'only where it made links, and only its own',
  );
  for (const place of left) rmSync(path.join(root, place));
  t.equal(textOf(linksOf(root)), before);
});
