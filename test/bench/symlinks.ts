// Repairs and snapshots of libraries of links by the built host, against find, one thread of C and one of Node on the
// same links, with the latency of other requests meanwhile and the longest pause of the event loop. `--links 1000000`
// replaces the sizes 10,000 and 100,000; `--dir DIR` chooses another file system than the temporary directory's.
// Creating links costs what the disk costs; a tmpfs, other than below the protected `/dev`, shows the rest.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makePlace, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

/** An odd number, so that links which each run changes back and forth end up changed. */
const RUNS = 3;
/** From so many links on there is only one run, because it takes minutes. */
const ONE_RUN_FROM = 1_000_000;
const ASK_EVERY_MS = 10;
const REST_MS = 2_000;
/** The child process keeps the compiled code of its threads, and users call it more than once. */
const WARM_UP_ROUNDS = 2;
const LINKS_PER_FOLDER = 100;
/** One of so many links has no target. */
const MISSING = 10;
const option = (name: string): string | undefined => {
  const given = process.argv.indexOf(name);
  return given === -1 ? undefined : process.argv[given + 1];
};
const wanted = option('--links');
const sizes = wanted === undefined ? [10_000, 100_000] : [Number(wanted)];
const chosen = option('--dir');
if (chosen !== undefined) process.env.TMPDIR = path.resolve(chosen);

const dir = mkdtempSync(path.join(tmpdir(), 'stackwarden-bench-links-'));
const program = path.join(dir, 'scan-links');
let hasC = true;
try {
  execFileSync(process.env.CC ?? 'cc', [
    '-O2',
    '-o',
    program,
    fileURLToPath(new URL('./support/scan-links.c', import.meta.url)),
  ]);
} catch {
  console.error('there is no C compiler; its figures are left out');
  hasC = false;
}
const place = await makePlace();
const host = await startBuilt(place, ['--plugins', 'symlinks,services,process'], true);

const timed = async (work: () => unknown): Promise<number> => {
  const begunAt = performance.now();
  await work();
  return performance.now() - begunAt;
};

/** The 99th percentile of the latency of other requests while `work` runs. */
async function latencyMs(work: () => Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work().finally(() => {
    isDone = true;
  });
  const latencies: number[] = [];
  while (!isDone) {
    latencies.push(await timed(() => host.get('/process/processes')));
    await delay(ASK_EVERY_MS);
  }
  await done;
  return latencies.sort((a, b) => a - b)[Math.floor(0.99 * latencies.length)] ?? Number.NaN;
}

function grow(root: string, targets: string, links: number): void {
  for (let folder = 0; folder < links / LINKS_PER_FOLDER; folder += 1) {
    const own = path.join(root, `Show ${folder}`, 'Season 1');
    const media = path.join(targets, `release-${folder}`);
    mkdirSync(own, { recursive: true });
    mkdirSync(media, { recursive: true });
    for (let link = 0; link < LINKS_PER_FOLDER; link += 1) {
      const name = `Show ${folder} - S01E${link}.mkv`;
      if (link % MISSING !== 0) writeFileSync(path.join(media, name), '');
      symlinkSync(path.join(media, name), path.join(own, name));
    }
  }
}

/** Calls `use` for each link, in one thread of Node. */
function eachLink(directory: string, use: (place: string) => void): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const inside = path.join(directory, entry.name);
    if (entry.isDirectory()) eachLink(inside, use);
    else if (entry.isSymbolicLink()) use(inside);
  }
}

function readAndStat(link: string): void {
  readlinkSync(link);
  statSync(link, { throwIfNoEntry: false });
}

function replaceInPlace(link: string): void {
  const target = readlinkSync(link);
  unlinkSync(link);
  symlinkSync(target, link);
}

try {
  for (const links of sizes) {
    const library = path.join(dir, `library-${links}`);
    const targets = path.join(dir, `targets-${links}`);
    const other = path.join(dir, `other-${links}`);
    const count = links < ONE_RUN_FROM ? RUNS : 1;
    const times = async (work: (run: number) => unknown): Promise<number[]> => {
      const runs: number[] = [];
      for (let run = 0; run < count; run += 1) runs.push(await timed(() => work(run)));
      return runs;
    };
    grow(library, targets, links);
    const repair = (body: object) => host.post('/process/symlink-repair', { roots: [library], dry_run: true, ...body });
    const rule = (from: string, to: string) => ({ rewrite_rules: [{ from_prefix: from, to_prefix: to }] });
    const none = rule('/no/such', '/place');
    const tested = { ...rule(targets, `${targets}-new`), include_broken: false };
    const snapshot = (name: string) => path.join(dir, `${links}-${name}.json`);
    const backup = (name: string, includesBroken = true) =>
      host.post('/process/symlink-manifest/backup', {
        backup_path: snapshot(name),
        roots: [library],
        include_broken: includesBroken,
      });
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
      await repair(none);
      await repair(tested);
      await backup('tested', false);
    }
    await host.longestPauseMs();

    const find = await times(() =>
      execFileSync('find', [library, '-printf', '%p %l\n'], { stdio: ['ignore', 'ignore', 'inherit'] }),
    );
    const node = await times(() => eachLink(library, readAndStat));
    const c = hasC ? await times(() => execFileSync(program, [library])) : node;
    const figure = (name: string, runs: number[], baseline: number[]) =>
      printFigure({ name: `${name}, ${links} links`, unit: 'ms', runs, baseline });
    figure('dry run without matches / find', await times(() => repair(none)), find);
    const existence = await times(() => repair(tested));
    figure('dry run that changes every link whose target is there / Node', existence, node);
    if (hasC) figure('dry run that changes every link whose target is there / C', existence, c);
    const looked = await times(() => backup('tested', false));
    figure('snapshot with every target looked for / Node', looked, node);
    if (hasC) figure('snapshot with every target looked for / C', looked, c);
    figure('snapshot / find', await times(() => backup('old')), find);
    const inPlace = await times(() => eachLink(library, replaceInPlace));
    const rewrites = await times(run =>
      repair({
        ...(run % 2 === 0 ? rule(targets, `${targets}-new`) : rule(`${targets}-new`, targets)),
        dry_run: false,
      }),
    );
    figure('rewrite / unlink and symlink', rewrites, inPlace);
    await backup('new');
    const unchanged = `/process/symlink-manifest/compare?manifest_path=${snapshot('new')}`;
    figure('comparison without differences / Node', await times(() => host.get(unchanged)), node);
    const restores = await times(run =>
      host.post('/process/symlink-manifest/restore', {
        manifest_path: snapshot(run % 2 === 0 ? 'old' : 'new'),
        overwrite_existing: true,
        dry_run: false,
      }),
    );
    figure('restore over others / unlink and symlink', restores, inPlace);
    const moves = await times(run => {
      const [from_root, to_root] = run % 2 === 0 ? [library, other] : [other, library];
      return host.post('/process/symlink-repair', { root_migrations: [{ from_root, to_root }], dry_run: false });
    });
    figure('move / unlink and symlink', moves, inPlace);
    const pauses = [await host.longestPauseMs()];
    const atRest = [await latencyMs(() => delay(REST_MS))];
    figure('longest pause of the host / at rest', pauses, [await host.longestPauseMs()]);
    figure('p99 of other answers during a dry run / at rest', [await latencyMs(() => repair(tested))], atRest);
    figure('p99 of other answers during a snapshot / at rest', [await latencyMs(() => backup('busy'))], atRest);
  }
} finally {
  await host.end('SIGTERM');
  await place.remove();
  rmSync(dir, { recursive: true, force: true });
}
