// What the managed processes use, each with all its descendants, and the twenty others that use most.
import { timeAt } from '#kit/boot-clock';
import type { ProcessSnapshot } from '../process/contract.ts';
import { Breather } from './breather.ts';
import type { DiskCounters, ExternalUsage, ManagedUsage } from './contract.ts';
import { CpuMeter } from './cpu-meter.ts';
import { HeldFiles } from './held-files.ts';
import { procText, readNumbers } from './proc-text.ts';
import { type ProcessRow, ProcessTable, treesOf } from './process-table.ts';
import { SocketMap } from './sockets.ts';

const MAX_EXTERNAL = 20;
/** How long the container of a process counts; a process rarely moves to another one. */
const CONTAINER_KEPT_MS = 10_000;
const CONTAINER_ENGINE = /[/:](?:docker|kubepods|libpod|containerd)/;
/** The cgroup of a container where systemd makes the groups. The engine itself is a service and has no scope. */
const CONTAINER_SCOPE = /\/((?:docker|libpod|cri-containerd|crio)-[^/]{1,128}\.scope)(?:\/|$)/;

/** How long the disk counters of a process are not read again while its row does not change. */
const DISK_KEPT_MS = 4_000;

const ioNumbers = new Float64Array(6);

interface KnownDisk {
  /** The same object as long as the numbers of the process have not changed. */
  readonly row: ProcessRow;
  readonly atMs: number;
  /** null when the host may not read them. */
  readonly counters: DiskCounters | null;
}

/** A managed process before the members that its configuration adds. */
export type TreeUsage = Omit<ManagedUsage, 'configuredPorts' | 'places'> & { readonly pids: readonly number[] };

export interface ProcessesUsage {
  readonly managed: readonly TreeUsage[];
  readonly external: readonly ExternalUsage[];
}

export class ProcessMeter {
  readonly #table = new ProcessTable();
  readonly #io = new HeldFiles('io');
  readonly #cpu = new CpuMeter();
  readonly #treeCpu = new CpuMeter();
  readonly #sockets = new SocketMap();
  /** Disk counters of the last round by pid; `#disksSeen` holds those of this round. */
  #disks: ReadonlyMap<number, KnownDisk> = new Map();
  #disksSeen = new Map<number, KnownDisk>();
  #managedPids: ReadonlySet<number> = new Set();
  #containers: { readonly atMs: number; readonly ids: Map<string, string | null> } = { atMs: 0, ids: new Map() };

  /** `own` are child processes of the host that appear in neither list. */
  async read(running: readonly ProcessSnapshot[], own: ReadonlySet<number>): Promise<ProcessesUsage> {
    const breather = new Breather();
    const roots = new Map(running.flatMap(snapshot => (snapshot.pid === null ? [] : [[snapshot.pid, snapshot]])));
    const { rows, resting } = await this.#table.read(breather, pid => roots.has(pid) || this.#managedPids.has(pid));
    const nowMs = performance.now();
    await this.#sockets.refresh(breather, nowMs);
    if (nowMs - this.#containers.atMs >= CONTAINER_KEPT_MS) this.#containers = { atMs: nowMs, ids: new Map() };
    const trees = treesOf(rows, roots);
    const managed: TreeUsage[] = [];
    const managedPids = new Set<number>();
    for (const [pid, { processName }] of roots) {
      const members = trees.get(pid) ?? [];
      const living = members.filter(row => !row.isZombie);
      const root = living.find(row => row.pid === pid);
      if (root === undefined) continue;
      for (const row of members) managedPids.add(row.pid);
      if (this.#sockets.isDue(living, nowMs, true)) await this.#sockets.look(living, nowMs, breather, true);
      managed.push(await this.#tree(processName, root, { members, living }, nowMs, breather));
    }
    this.#managedPids = managedPids;
    const isOther = ({ pid, parentPid, isZombie }: ProcessRow): boolean =>
      !isZombie && !managedPids.has(pid) && !own.has(pid) && !own.has(parentPid);
    const others = rows
      .filter(isOther)
      .map(row => ({
        row,
        cpuPercent: resting.has(row) ? this.#cpu.last(row.key) : this.#cpu.percent(row.key, row.ownMs, nowMs),
      }))
      .sort((a, b) => (b.cpuPercent ?? 0) - (a.cpuPercent ?? 0) || b.row.rssBytes - a.row.rssBytes)
      .slice(0, MAX_EXTERNAL);
    const external: ExternalUsage[] = [];
    for (const { row, cpuPercent } of others) {
      if (this.#sockets.isDue([row], nowMs, false)) await this.#sockets.look([row], nowMs, breather, false);
      external.push(await this.#external(row, cpuPercent, nowMs, breather));
    }
    this.#cpu.endRound();
    this.#treeCpu.endRound();
    this.#io.endRound();
    this.#disks = this.#disksSeen;
    this.#disksSeen = new Map();
    return { managed, external };
  }

  close(): void {
    this.#table.close();
    this.#io.close();
  }

  /**
   * CPU time is summed over zombies and over children that were waited for, too. The time of a process moves to its
   * parent when the parent waits for it, so the sum never shrinks. The same holds for bytes read and written.
   */
  async #tree(
    processName: string,
    root: ProcessRow,
    { members, living }: { readonly members: readonly ProcessRow[]; readonly living: readonly ProcessRow[] },
    nowMs: number,
    breather: Breather,
  ): Promise<TreeUsage> {
    const pids: number[] = [];
    let [usedMs, rssBytes, virtualBytes, threads] = [0, 0, 0, 0];
    for (const row of members) usedMs += row.ownMs + row.childrenMs;
    for (const row of living) {
      pids.push(row.pid);
      rssBytes += row.rssBytes;
      virtualBytes += row.virtualBytes;
      threads += row.threads;
    }
    const { ports, connections } = this.#sockets.useOf(living);
    return {
      processName,
      pid: root.pid,
      pids,
      startedAt: timeAt(root.startTicks),
      cpuPercent: this.#treeCpu.percent(root.key, usedMs, nowMs),
      rssBytes,
      virtualBytes,
      threads,
      disk: await this.#diskOf(members, nowMs, breather),
      ports,
      connections,
      processCount: living.length,
    };
  }

  async #external(
    row: ProcessRow,
    cpuPercent: number | null,
    nowMs: number,
    breather: Breather,
  ): Promise<ExternalUsage> {
    const { pid, name, rssBytes, virtualBytes, threads } = row;
    const { ports } = this.#sockets.useOf([row]);
    const disk = await this.#diskOf([row], nowMs, breather);
    return { pid, name, cpuPercent, rssBytes, virtualBytes, threads, disk, ports, containerId: this.#containerOf(row) };
  }

  #containerOf({ pid, key }: ProcessRow): string | null {
    const { ids } = this.#containers;
    const known = ids.get(key);
    if (known !== undefined) return known;
    const id = containerIn(procText(`/proc/${pid}/cgroup`) ?? '');
    ids.set(key, id);
    return id;
  }

  /** The summed disk counters of the processes; null when none of them can be read. */
  async #diskOf(rows: readonly ProcessRow[], nowMs: number, breather: Breather): Promise<DiskCounters | null> {
    let total: DiskCounters | null = null;
    for (const row of rows) {
      if (breather.isDue) await breather.breathe();
      const own = this.#disk(row, nowMs);
      if (own !== null) total = total === null ? own : sumOf(total, own);
    }
    return total;
  }

  #disk(row: ProcessRow, nowMs: number): DiskCounters | null {
    const { pid } = row;
    const last = this.#disks.get(pid);
    const isKept = last !== undefined && last.row === row && nowMs - last.atMs < DISK_KEPT_MS;
    if (isKept) this.#io.keep(pid);
    const known = isKept ? last : { row, atMs: nowMs, counters: countersOf(this.#io.read(pid)) };
    this.#disksSeen.set(pid, known);
    return known.counters;
  }
}

/** The counters in /proc/[pid]/io; null when it cannot be read or is empty. */
function countersOf(io: Buffer | null): DiskCounters | null {
  if (io === null || io.length === 0) return null;
  // In the order of proc(5): rchar, wchar, syscr, syscw, read_bytes, write_bytes.
  readNumbers(io, 0, ioNumbers);
  const [, , reads = 0, writes = 0, readBytes = 0, writtenBytes = 0] = ioNumbers;
  return { readBytes, writtenBytes, reads, writes };
}

function sumOf(a: DiskCounters, b: DiskCounters): DiskCounters {
  return {
    readBytes: a.readBytes + b.readBytes,
    writtenBytes: a.writtenBytes + b.writtenBytes,
    reads: a.reads + b.reads,
    writes: a.writes + b.writes,
  };
}

/** The container in the text of /proc/[pid]/cgroup: its scope, or else the last part of a path below an engine's. */
export function containerIn(cgroups: string): string | null {
  for (const line of cgroups.split('\n')) {
    const [, scope] = CONTAINER_SCOPE.exec(line) ?? [];
    if (scope !== undefined) return scope;
    const engine = line.search(CONTAINER_ENGINE);
    const last = line.lastIndexOf('/');
    if (engine >= 0 && last > engine) return line.slice(last + 1);
  }
  return null;
}
