// What the managed processes use, each with all its descendants, and the twenty others that use most.
import type { ProcessSnapshot } from '../process/contract.ts';
import { Breather } from './breather.ts';
import type { DiskCounters, ExternalUsage, ManagedUsage } from './contract.ts';
import { CpuMeter } from './cpu-meter.ts';
import { procRecord, procText, readNumbers } from './proc-text.ts';
import { type ProcessRow, readProcesses, TICKS_PER_S, treesOf } from './process-table.ts';
import { SocketMap } from './sockets.ts';

const MAX_EXTERNAL = 20;
const CONTAINER_ENGINE = /[/:](?:docker|kubepods|libpod|containerd)/;

const ioNumbers = new Float64Array(6);

/** A managed process before the members that its configuration adds. */
export type TreeUsage = Omit<ManagedUsage, 'configuredPorts' | 'places'> & { readonly pids: readonly number[] };

export interface ProcessesUsage {
  readonly managed: readonly TreeUsage[];
  readonly external: readonly ExternalUsage[];
}

export class ProcessMeter {
  readonly #cpu = new CpuMeter();
  readonly #sockets = new SocketMap();

  /** `own` are processes of the host that belong to no list; `bootedAt` is in Unix seconds. */
  async read(running: readonly ProcessSnapshot[], own: ReadonlySet<number>, bootedAt: number): Promise<ProcessesUsage> {
    const breather = new Breather();
    const rows = await readProcesses(breather);
    const nowMs = performance.now();
    await this.#sockets.refresh(breather, nowMs);
    const roots = new Map(running.flatMap(snapshot => (snapshot.pid === null ? [] : [[snapshot.pid, snapshot]])));
    const trees = treesOf(rows, roots);
    const managed: TreeUsage[] = [];
    const taken = new Set(own);
    for (const [pid, { processName }] of roots) {
      const members = trees.get(pid) ?? [];
      const root = members.find(row => row.pid === pid);
      if (root === undefined) continue;
      for (const row of members) taken.add(row.pid);
      managed.push(await this.#tree(processName, root, members, nowMs, bootedAt, breather));
    }
    const others = rows
      .filter(row => !taken.has(row.pid) && !own.has(row.parentPid))
      .map(row => ({ row, cpuPercent: this.#cpu.percent(keyOf(row), row.ownMs, nowMs) }))
      .sort((a, b) => (b.cpuPercent ?? 0) - (a.cpuPercent ?? 0) || b.row.rssBytes - a.row.rssBytes)
      .slice(0, MAX_EXTERNAL);
    const external: ExternalUsage[] = [];
    for (const { row, cpuPercent } of others) external.push(await this.#external(row, cpuPercent, breather));
    this.#cpu.endRound();
    return { managed, external };
  }

  /**
   * The time of children that were waited for is counted too: what a process used moves to its parent when it ends, so
   * that the sum goes on growing.
   */
  async #tree(
    processName: string,
    root: ProcessRow,
    members: readonly ProcessRow[],
    nowMs: number,
    bootedAt: number,
    breather: Breather,
  ): Promise<TreeUsage> {
    const usedMs = sum(members, row => row.ownMs + row.childrenMs);
    const { ports, connections } = await this.#sockets.useOf(members.map(withKey), breather, true);
    return {
      processName,
      pid: root.pid,
      pids: members.map(({ pid }) => pid),
      startedAt: bootedAt + root.startTicks / TICKS_PER_S,
      cpuPercent: this.#cpu.percent(`tree ${keyOf(root)}`, usedMs, nowMs),
      rssBytes: sum(members, row => row.rssBytes),
      virtualBytes: sum(members, row => row.virtualBytes),
      threads: sum(members, row => row.threads),
      disk: diskOf(members.map(({ pid }) => pid)),
      ports,
      connections,
      processCount: members.length,
    };
  }

  async #external(row: ProcessRow, cpuPercent: number | null, breather: Breather): Promise<ExternalUsage> {
    const { pid, name, rssBytes, virtualBytes, threads } = row;
    const { ports } = await this.#sockets.useOf([withKey(row)], breather, false);
    const containerId = containerIn(procText(`/proc/${pid}/cgroup`) ?? '');
    return { pid, name, cpuPercent, rssBytes, virtualBytes, threads, disk: diskOf([pid]), ports, containerId };
  }
}

/** The last part of the first cgroup below that of a container engine. */
function containerIn(cgroups: string): string | null {
  for (const line of cgroups.split('\n')) {
    const engine = line.search(CONTAINER_ENGINE);
    const last = line.lastIndexOf('/');
    if (engine >= 0 && last > engine) return line.slice(last + 1);
  }
  return null;
}

/** null when none of them tells. */
function diskOf(pids: readonly number[]): DiskCounters | null {
  const total = { readBytes: 0, writtenBytes: 0, reads: 0, writes: 0 };
  let isTold = false;
  for (const pid of pids) {
    const io = procRecord(`/proc/${pid}/io`);
    if (io === null || io.length === 0) continue;
    isTold = true;
    // In the order of proc(5): rchar, wchar, syscr, syscw, read_bytes, write_bytes.
    readNumbers(io, 0, ioNumbers);
    const [, , reads = 0, writes = 0, readBytes = 0, writtenBytes = 0] = ioNumbers;
    total.reads += reads;
    total.writes += writes;
    total.readBytes += readBytes;
    total.writtenBytes += writtenBytes;
  }
  return isTold ? total : null;
}

function withKey(row: ProcessRow): { pid: number; key: string } {
  return { pid: row.pid, key: keyOf(row) };
}

function keyOf({ pid, startTicks }: ProcessRow): string {
  return `${pid}:${startTicks}`;
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
