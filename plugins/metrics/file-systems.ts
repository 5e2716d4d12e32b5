// How full the file systems of the configured paths are, which ones there are, and what the directories of services
// use.
import { type Mount, mountOf } from '#kit/mountinfo';
import type { FileSystemUsage, PlaceUsage, Space } from './contract.ts';
import { mountsNow } from './mounts-now.ts';
import { PathProbe } from './path-probe.ts';
import type { PathAnswer } from './path-shell.ts';
import { percentOf } from './proc-text.ts';

/** How long a sample waits for its paths; for a path that answers later it shows what was known before. */
const PATIENCE_MS = 250;
/** How long a sample waits when nothing is known of a path yet: longer than a look at a dead mount takes. */
const FIRST_PATIENCE_MS = 3_500;
/** How long the list of all file systems waits, many of which may not answer. */
const CANDIDATES_PATIENCE_MS = 5_000;
/** How long the answer of a configured path counts: each look starts a program. */
const SPACE_KEPT_MS = 4_000;
const CANDIDATES_KEPT_MS = 10_000;
const PLACES_KEPT_MS = 30_000;

const HIDDEN_PLACES = ['/dev', '/proc', '/sys'];
const HIDDEN_TYPES = new Set(
  'autofs bpf cgroup cgroup2 configfs debugfs devpts devtmpfs fusectl hugetlbfs mqueue proc pstore securityfs sysfs tracefs'.split(
    ' ',
  ),
);
const NOTHING: Space = { total: null, used: null, free: null, percent: null };

/** The directories of a service. Services with the same directories have the same key and share one answer. */
export interface PlaceList {
  readonly key: string;
  readonly paths: readonly string[];
}

export function placeList(paths: readonly string[]): PlaceList {
  return { key: paths.join('\0'), paths };
}

export class FileSystems {
  readonly #probe = new PathProbe();
  /** Looks at candidates and places, so that those that hang do not delay the configured paths. */
  readonly #slowProbe = new PathProbe();
  readonly #known = new Map<string, { readonly usage: FileSystemUsage; readonly atMs: number }>();
  readonly #looking = new Map<string, Promise<unknown>>();
  readonly #places = new Map<string, { readonly atMs: number; readonly usages: readonly PlaceUsage[] }>();
  readonly #refreshing = new Set<string>();
  #candidates: { readonly atMs: number; readonly found: Promise<FileSystemUsage[]> } | undefined;

  /** The child processes that look at paths. */
  pids(): number[] {
    return [...this.#probe.pids, ...this.#slowProbe.pids];
  }

  async read(paths: readonly string[]): Promise<FileSystemUsage[]> {
    const nowMs = performance.now();
    for (const path of this.#known.keys()) if (!paths.includes(path)) this.#known.delete(path);
    const due = paths.filter(path => nowMs - (this.#known.get(path)?.atMs ?? Number.NEGATIVE_INFINITY) > SPACE_KEPT_MS);
    if (due.length > 0) {
      const isNew = due.some(path => !this.#known.has(path));
      await beforePatienceEnds(
        due.map(path => this.#look(path)),
        isNew ? FIRST_PATIENCE_MS : PATIENCE_MS,
      );
    }
    return paths.map(path => this.#known.get(path)?.usage ?? unavailable(path, true));
  }

  /** Every file system that can be watched, `/` first. */
  candidates(): Promise<FileSystemUsage[]> {
    const nowMs = performance.now();
    if (this.#candidates === undefined || nowMs - this.#candidates.atMs > CANDIDATES_KEPT_MS)
      this.#candidates = { atMs: nowMs, found: this.#findCandidates() };
    return this.#candidates.found;
  }

  /** What is known of these directories: at first nothing, because they are looked at in the background. */
  places({ key, paths }: PlaceList): readonly PlaceUsage[] {
    const known = this.#places.get(key);
    const isOld = known === undefined || performance.now() - known.atMs > PLACES_KEPT_MS;
    if (isOld && !this.#refreshing.has(key)) void this.#refreshPlaces(key, paths);
    return known?.usages ?? [];
  }

  /** Forgets all directories except these. */
  keepPlaces(lists: readonly PlaceList[]): void {
    const keys = new Set<string>();
    for (const { key } of lists) keys.add(key);
    for (const key of this.#places.keys()) if (!keys.has(key)) this.#places.delete(key);
  }

  close(): void {
    this.#probe.close();
    this.#slowProbe.close();
  }

  /** Looks at a path, or joins the look that is already under way. */
  #look(path: string): Promise<unknown> {
    const running = this.#looking.get(path);
    if (running !== undefined) return running;
    const look = (async () => {
      const answer = await this.#probe.look(path, 'space');
      this.#known.set(path, { usage: usageOf(path, answer, await mountsNow()), atMs: performance.now() });
    })().finally(() => this.#looking.delete(path));
    this.#looking.set(path, look);
    return look;
  }

  async #findCandidates(): Promise<FileSystemUsage[]> {
    const mounts = await mountsNow();
    const directories = mounts.filter(isShown).map(({ directory }) => directory);
    const unique = [...new Set(directories)].sort((a, b) => Number(b === '/') - Number(a === '/') || (a < b ? -1 : 1));
    const answers = new Map<string, PathAnswer | null>();
    const looks = unique.map(async directory => {
      answers.set(directory, await this.#slowProbe.look(directory, 'space'));
    });
    await beforePatienceEnds(looks, CANDIDATES_PATIENCE_MS);
    return unique
      .filter(directory => answers.get(directory)?.isDirectory !== false)
      .map(directory => usageOf(directory, answers.get(directory) ?? null, mounts))
      .filter(({ available, stalled }) => available || stalled);
  }

  async #refreshPlaces(key: string, paths: readonly string[]): Promise<void> {
    this.#refreshing.add(key);
    try {
      const mounts = await mountsNow();
      const spaces = new Map<string, Space | null>();
      const usages: PlaceUsage[] = [];
      for (const path of paths) {
        const answer = await this.#slowProbe.look(path, 'existence');
        const mount = answer?.exists === true ? mountOf(answer.real, mounts) : undefined;
        if (mount !== undefined && !spaces.has(mount.directory)) {
          const looked = await this.#slowProbe.look(mount.directory, 'space');
          spaces.set(mount.directory, looked?.space == null ? null : usageOf(mount.directory, looked, mounts).space);
        }
        const space = mount === undefined ? null : (spaces.get(mount.directory) ?? null);
        usages.push({ path, exists: answer?.exists === true, device: mount?.device ?? null, space });
      }
      this.#places.set(key, { atMs: performance.now(), usages });
    } finally {
      this.#refreshing.delete(key);
    }
  }
}

async function beforePatienceEnds(looks: readonly Promise<unknown>[], patienceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise(resolve => {
    timer = setTimeout(resolve, patienceMs);
  });
  await Promise.race([Promise.all(looks), patience]);
  clearTimeout(timer);
}

function isShown({ directory, type }: Mount): boolean {
  if (/[\n\0]/.test(directory) || HIDDEN_TYPES.has(type)) return false;
  return !HIDDEN_PLACES.some(place => directory === place || directory.startsWith(`${place}/`));
}

function usageOf(path: string, answer: PathAnswer | null, mounts: readonly Mount[]): FileSystemUsage {
  const mount = mountOf(answer?.real ?? path, mounts);
  const at = { mountPoint: mount?.directory ?? null, type: mount?.type ?? null };
  if (answer === null) return { ...unavailable(path, true), ...at };
  const { space } = answer;
  if (space === null) return { ...unavailable(path, false), ...(answer.exists ? at : {}) };
  const used = (space.blocks - space.freeBlocks) * space.blockBytes;
  const free = space.availableBlocks * space.blockBytes;
  const usedInodes = space.inodes - space.freeInodes;
  return {
    path,
    ...at,
    available: true,
    stalled: false,
    space: { total: space.blocks * space.blockBytes, used, free, percent: percentOf(used, used + free) ?? 0 },
    inodes: {
      total: space.inodes,
      used: usedInodes,
      free: space.freeInodes,
      percent: percentOf(usedInodes, space.inodes),
    },
  };
}

function unavailable(path: string, stalled: boolean): FileSystemUsage {
  return { path, mountPoint: null, type: null, available: false, stalled, space: NOTHING, inodes: NOTHING };
}
