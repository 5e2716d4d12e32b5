// The listening ports and the connections of processes. The kernel lists sockets by inode and descriptors by process,
// so both have to be read; both are kept for a while, because reading them takes long.
import { readFile } from 'node:fs/promises';
import type { Breather } from './breather.ts';
import type { Connection } from './contract.ts';
import { procLink, procNames } from './proc-text.ts';

/** How long the list of sockets and the descriptors of a process count at least. */
const KEPT_MS = 10_000;
/** The time for each descriptor of an external process, if the product is longer: a look reads all descriptors. */
const KEPT_PER_DESCRIPTOR_MS = 200;
/** The longest time that descriptors count: that of a process whose numbers do not change. */
const UNCHANGED_KEPT_MS = 60_000;
/** The list of sockets counts for this many times the time that reading it took, if that is longer. */
const LIST_SHARE = 2_000;
const MAX_CONNECTIONS = 50;
/** The greatest number of descriptors that are read of one process. */
const MAX_DESCRIPTORS = 8_192;
/** The greatest number of sockets that are read from each list of the kernel. */
const MAX_SOCKETS = 65_536;

const LISTENING = '0A';
const ESTABLISHED = '01';

export interface SocketUse {
  readonly ports: readonly number[];
  readonly connections: readonly Connection[];
}

/** A line of the kernel's list, whose addresses are parsed only when they are asked for. */
class Socket {
  readonly isListening: boolean;
  readonly #local: string;
  readonly #remote: string;
  #connection: Connection | undefined;

  constructor(local: string, remote: string, isListening: boolean) {
    this.#local = local;
    this.#remote = remote;
    this.isListening = isListening;
  }

  get port(): number {
    return Number.parseInt(this.#local.slice(this.#local.indexOf(':') + 1), 16);
  }

  get connection(): Connection {
    this.#connection ??= { local: addressOf(this.#local), remote: addressOf(this.#remote) };
    return this.#connection;
  }
}

/** The list of the machine, as it was at one moment. */
interface SocketList {
  readonly atMs: number;
  readonly keptMs: number;
  /** By inode. */
  readonly sockets: ReadonlyMap<string, Socket>;
  /** Inodes of descriptors that are not in the list: sockets of other kinds, or neither listening nor connected. */
  readonly others: Set<string>;
}

/** A reading of a process: the same object as long as its numbers have not changed. */
interface Reading {
  readonly pid: number;
  readonly key: string;
}

interface Held {
  readonly reading: Reading;
  readonly atMs: number;
  /** How long the inodes count while the numbers of the process change and it is not a managed one. */
  readonly keptMs: number;
  readonly inodes: readonly string[];
}

const NO_USE: SocketUse = { ports: [], connections: [] };
const NOTHING: SocketList = { atMs: Number.NEGATIVE_INFINITY, keptMs: 0, sockets: new Map(), others: new Set() };

export class SocketMap {
  #list = NOTHING;
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** Inodes of sockets by the key of their process. */
  readonly #byProcess = new Map<string, Held>();

  /**
   * Forgets inodes that are too old, and reads the list of sockets again when it is too old. The kernel goes through
   * all its hash buckets for that list, empty ones too, which may take tens of milliseconds; so it is read sooner only
   * for a socket that is missing from it.
   */
  async refresh(breather: Breather, nowMs: number): Promise<void> {
    if (nowMs - this.#lookedMs < KEPT_MS) return;
    this.#lookedMs = nowMs;
    if (nowMs - this.#list.atMs >= this.#list.keptMs) await this.#readList(nowMs, breather);
    for (const [key, { atMs }] of this.#byProcess) if (nowMs - atMs >= UNCHANGED_KEPT_MS) this.#byProcess.delete(key);
  }

  /** Reads again the inodes of these processes that are too old. */
  async look(processes: readonly Reading[], nowMs: number, breather: Breather, isManaged: boolean): Promise<void> {
    for (const reading of processes) {
      if (this.#isKnown(reading, nowMs, isManaged)) continue;
      const { inodes, looked } = await readInodes(reading.pid, breather);
      const keptMs = Math.min(Math.max(KEPT_MS, looked * KEPT_PER_DESCRIPTOR_MS), UNCHANGED_KEPT_MS);
      this.#byProcess.set(reading.key, { reading, atMs: nowMs, keptMs, inodes });
    }
    if (isManaged && this.#isLacking(processes, nowMs)) await this.#readList(nowMs, breather);
  }

  /** Whether `look` would read something: old inodes, or the list because a managed process has a new socket. */
  isDue(processes: readonly Reading[], nowMs: number, isManaged: boolean): boolean {
    for (const reading of processes) if (!this.#isKnown(reading, nowMs, isManaged)) return true;
    return isManaged && this.#isLacking(processes, nowMs);
  }

  /** The ports and connections of these processes together, as far as they are known. */
  useOf(processes: readonly Reading[]): SocketUse {
    const { sockets } = this.#list;
    const inodes: string[] = [];
    for (const { key } of processes) for (const inode of this.#byProcess.get(key)?.inodes ?? []) inodes.push(inode);
    if (inodes.length === 0) return NO_USE;
    const ports = new Set<number>();
    const connections: Connection[] = [];
    for (const inode of inodes) {
      const socket = sockets.get(inode);
      if (socket?.isListening === true) ports.add(socket.port);
      else if (socket !== undefined && connections.length < MAX_CONNECTIONS) connections.push(socket.connection);
    }
    return { ports: [...ports].sort((a, b) => a - b), connections };
  }

  #isKnown(reading: Reading, nowMs: number, isManaged: boolean): boolean {
    const held = this.#byProcess.get(reading.key);
    if (held === undefined) return false;
    const changedKeptMs = isManaged ? KEPT_MS : held.keptMs;
    return nowMs - held.atMs < (held.reading === reading ? UNCHANGED_KEPT_MS : changedKeptMs);
  }

  #isLacking(processes: readonly Reading[], nowMs: number): boolean {
    const { atMs, sockets, others } = this.#list;
    if (nowMs - atMs < KEPT_MS) return false;
    for (const { key } of processes)
      for (const inode of this.#byProcess.get(key)?.inodes ?? [])
        if (!sockets.has(inode) && !others.has(inode)) return true;
    return false;
  }

  async #readList(nowMs: number, breather: Breather): Promise<void> {
    const held = [...this.#byProcess.values()].flatMap(({ inodes }) => inodes);
    const { sockets, tookMs } = await readSockets(breather);
    const others = new Set(held.filter(inode => !sockets.has(inode)));
    this.#list = { atMs: nowMs, keptMs: Math.max(KEPT_MS, LIST_SHARE * tookMs), sockets, others };
  }
}

async function readInodes(
  pid: number,
  breather: Breather,
): Promise<{ readonly inodes: readonly string[]; readonly looked: number }> {
  const inodes: string[] = [];
  let looked = 0;
  try {
    for (const name of procNames(`/proc/${pid}/fd`).slice(0, MAX_DESCRIPTORS)) {
      looked += 1;
      const link = procLink(`/proc/${pid}/fd/${name}`);
      if (link?.startsWith('socket:[')) inodes.push(link.slice(8, -1));
      if (breather.isDue) await breather.breathe();
    }
  } catch {
    // If one descriptor may not be read, neither may the others.
  }
  return { inodes, looked };
}

async function readSockets(
  breather: Breather,
): Promise<{ readonly sockets: ReadonlyMap<string, Socket>; readonly tookMs: number }> {
  const sockets = new Map<string, Socket>();
  let tookMs = 0;
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const beganMs = performance.now();
    // Read asynchronously, in another thread, because it would hold the event loop for too long.
    const text = await readFile(file, 'latin1').catch(() => '');
    tookMs += performance.now() - beganMs;
    for (const line of text.split('\n').slice(1, MAX_SOCKETS)) {
      const [, local = '', remote = '', state, , , , , , inode] = line.trim().split(/ +/);
      if (inode !== undefined && (state === LISTENING || state === ESTABLISHED))
        sockets.set(inode, new Socket(local, remote, state === LISTENING));
      if (breather.isDue) await breather.breathe();
    }
  }
  return { sockets, tookMs };
}

/** The kernel writes an address as 32-bit words in the byte order of the machine, and the port as a plain number. */
export function addressOf(text: string): readonly [address: string, port: number] {
  const [words = '', port = ''] = text.split(':');
  const bytes = Buffer.from(words, 'hex');
  if (IS_LITTLE_ENDIAN) bytes.swap32();
  return [bytes.length === 4 ? [...bytes].join('.') : longAddress(bytes), Number.parseInt(port, 16)];
}

const IS_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const MAPPED_V4 = '00000000000000000000ffff';

function longAddress(bytes: Buffer): string {
  if (bytes.toString('hex', 0, 12) === MAPPED_V4) return [...bytes.subarray(12)].join('.');
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16));
  // The URL parser shortens an address as RFC 5952 says.
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}
