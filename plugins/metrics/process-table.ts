// All processes at one moment, from one read of /proc/[pid]/stat each; proc(5) describes the fields.
import { readFileSync } from 'node:fs';
import type { Breather } from './breather.ts';
import { HeldFiles } from './held-files.ts';
import { procNames, readNumbers } from './proc-text.ts';

/** USER_HZ, fixed at 100 for every architecture that Node runs on: time(7). */
export const TICKS_PER_S = 100;
const MS_PER_TICK = 1_000 / TICKS_PER_S;
/** Flag of kernel threads (Linux, include/linux/sched.h). In a container, pid 2 may be any program. */
const PF_KTHREAD = 0x20_00_00;
/** How long a kernel thread is not read again: the kernel does not reuse a pid at once. */
const KERNEL_THREADS_KEPT_MS = 10_000;
/** How long a process must have shown the same numbers to count as quiet. */
const QUIET_MS = 1_000;
/** How long a quiet process is not read again, unless it is watched. */
const REST_MS = 5_000;
/** The key of the page size in the auxiliary vector: getauxval(3). */
const AT_PAGESZ = 6n;
const PAGE_BYTES = pageBytes();
const OPENING = '('.charCodeAt(0);
const CLOSING = ')'.charCodeAt(0);
const ONE = '1'.charCodeAt(0);
const NINE = '9'.charCodeAt(0);
/** States of a process that the kernel is removing. */
const GONE_STATES = [...'Xx'].map(state => state.charCodeAt(0));
const ZOMBIE = 'Z'.charCodeAt(0);
/** The numbers after the state, up to `rss`. */
const numbers = new Float64Array(21);

export interface ProcessRow {
  readonly pid: number;
  readonly parentPid: number;
  readonly pgid: number;
  readonly name: string;
  /** Whether the process has ended and its parent has not waited for it: only then its time moves to the parent. */
  readonly isZombie: boolean;
  /** Clock ticks after boot. */
  readonly startTicks: number;
  /** Identifies the process: its pid and its start. */
  readonly key: string;
  /** CPU time of its own. */
  readonly ownMs: number;
  /** CPU time of children that have ended and were waited for. */
  readonly childrenMs: number;
  readonly threads: number;
  readonly rssBytes: number;
  readonly virtualBytes: number;
}

/** The last reading of a process and its row, which stays the same while the reading does: most processes are idle. */
interface Known {
  bytes: Buffer;
  length: number;
  row: ProcessRow | 'gone' | 'kernel';
  readAtMs: number;
  changedAtMs: number;
}

export interface ProcessRows {
  readonly rows: readonly ProcessRow[];
  /** Rows of processes that were not read this time. */
  readonly resting: ReadonlySet<ProcessRow>;
}

const FIRST_BYTES = 512;
const NOTHING_KNOWN = { length: 0, row: 'gone', readAtMs: 0, changedAtMs: 0 } as const;

export class ProcessTable {
  readonly #files = new HeldFiles('stat');
  #known = new Map<number, Known>();
  #kernelThreads: { readonly atMs: number; readonly pids: Set<number> } = { atMs: 0, pids: new Set() };

  /** Reads all processes except kernel threads. A process that is watched is read each time. */
  async read(breather: Breather, isWatched: (pid: number) => boolean): Promise<ProcessRows> {
    const seen = new Map<number, Known>();
    const nowMs = performance.now();
    const kernelThreads = this.#kernelThreadsAt(nowMs);
    for (const name of procNames('/proc')) {
      const pid = isPid(name) ? Number(name) : undefined;
      if (pid === undefined || kernelThreads.has(pid)) continue;
      const known = this.#resting(pid, nowMs, isWatched) ?? this.#look(pid, nowMs);
      if (known !== undefined) seen.set(pid, known);
      if (known?.row === 'kernel') kernelThreads.add(pid);
      if (breather.isDue) await breather.breathe();
    }
    this.#files.endRound();
    this.#known = seen;
    return rowsIn(seen, nowMs);
  }

  close(): void {
    this.#files.close();
  }

  /** The pids that are known to be those of kernel threads. */
  #kernelThreadsAt(nowMs: number): Set<number> {
    if (nowMs - this.#kernelThreads.atMs >= KERNEL_THREADS_KEPT_MS)
      this.#kernelThreads = { atMs: nowMs, pids: new Set() };
    return this.#kernelThreads.pids;
  }

  /** What is known of a process that need not be read again; undefined for any other. */
  #resting(pid: number, nowMs: number, isWatched: (pid: number) => boolean): Known | undefined {
    const known = this.#known.get(pid);
    if (known === undefined || !isQuiet(known) || nowMs - known.readAtMs >= REST_MS || isWatched(pid)) return undefined;
    this.#files.keep(pid);
    return known;
  }

  #look(pid: number, nowMs: number): Known | undefined {
    const stat = this.#files.read(pid);
    if (stat === null) return undefined;
    const known = this.#known.get(pid) ?? { ...NOTHING_KNOWN, bytes: Buffer.allocUnsafeSlow(FIRST_BYTES) };
    const { bytes, length } = known;
    known.readAtMs = nowMs;
    if (stat.length === length && stat.compare(bytes, 0, length) === 0) return known;
    known.changedAtMs = nowMs;
    if (stat.length > bytes.length) known.bytes = Buffer.allocUnsafeSlow(2 * stat.length);
    known.length = stat.copy(known.bytes);
    known.row = rowOf(pid, stat);
    return known;
  }
}

/** The rows of all processes that are no kernel threads. Those that were not read at `nowMs` are resting. */
function rowsIn(seen: ReadonlyMap<number, Known>, nowMs: number): ProcessRows {
  const rows: ProcessRow[] = [];
  const resting = new Set<ProcessRow>();
  for (const { row, readAtMs } of seen.values()) {
    if (row === 'kernel' || row === 'gone') continue;
    rows.push(row);
    if (readAtMs !== nowMs) resting.add(row);
  }
  return { rows, resting };
}

function isPid(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= ONE && first <= NINE;
}

function isQuiet({ readAtMs, changedAtMs }: Known): boolean {
  return readAtMs - changedAtMs >= QUIET_MS;
}

export function rowOf(pid: number, stat: Buffer): ProcessRow | 'gone' | 'kernel' {
  // The name stands in parentheses and may itself hold parentheses, spaces and line breaks.
  const nameEnd = stat.lastIndexOf(CLOSING);
  const state = stat[nameEnd + 2] ?? 0;
  if (GONE_STATES.includes(state)) return 'gone';
  readNumbers(stat, nameEnd + 2, numbers);
  const number = (index: number): number => numbers[index] ?? Number.NaN;
  if ((number(5) & PF_KTHREAD) !== 0) return 'kernel';
  const startTicks = number(18);
  return {
    pid,
    parentPid: number(0),
    pgid: number(1),
    name: stat.toString('utf8', stat.indexOf(OPENING) + 1, nameEnd),
    isZombie: state === ZOMBIE,
    ownMs: (number(10) + number(11)) * MS_PER_TICK,
    childrenMs: (number(12) + number(13)) * MS_PER_TICK,
    threads: number(16),
    startTicks,
    key: `${pid}:${startTicks}`,
    virtualBytes: number(19),
    rssBytes: number(20) * PAGE_BYTES,
  };
}

/** The members of each tree by the pid of its root. A process belongs to the nearest root above it. */
export function treesOf(
  rows: readonly ProcessRow[],
  roots: ReadonlyMap<number, { readonly pgid: number | null }>,
): Map<number, ProcessRow[]> {
  const byPid = new Map<number, ProcessRow>();
  for (const row of rows) byPid.set(row.pid, row);
  const byGroup = new Map<number, number>();
  const owners = new Map<number, number | null>();
  const trees = new Map<number, ProcessRow[]>();
  for (const [pid, { pgid }] of roots) {
    if (pgid !== null) byGroup.set(pgid, pid);
    owners.set(pid, pid);
    trees.set(pid, []);
  }
  for (const row of rows) {
    const owner = ownerOf(row);
    if (owner !== null) trees.get(owner)?.push(row);
  }
  return trees;

  function ownerOf(start: ProcessRow): number | null {
    const passed: number[] = [];
    let owner: number | null = null;
    for (let row: ProcessRow | undefined = start; row !== undefined; row = byPid.get(row.parentPid)) {
      const known = owners.get(row.pid);
      if (known !== undefined) {
        owner = known;
        break;
      }
      passed.push(row.pid);
      // Set at once, so that rows whose parents were read at different moments cannot lead round in a circle.
      owners.set(row.pid, null);
    }
    // A process whose parent has ended is still in the group in which it was launched.
    owner ??= byGroup.get(start.pgid) ?? null;
    for (const pid of passed) owners.set(pid, owner);
    return owner;
  }
}

function pageBytes(): number {
  const vector = new BigUint64Array(Uint8Array.from(readFileSync('/proc/self/auxv')).buffer);
  for (let index = 0; index < vector.length; index += 2)
    if (vector[index] === AT_PAGESZ) return Number(vector[index + 1]);
  throw new Error('the kernel does not tell the size of a page');
}
