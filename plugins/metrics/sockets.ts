// Which process listens on which port and is connected with whom. The kernel tells sockets by inode and descriptors by
// process, so that both have to be read; a map is kept for some seconds because that is much.
import type { Breather } from './breather.ts';
import type { Connection } from './contract.ts';
import { procLink, procNames, procText } from './proc-text.ts';

const KEPT_MS = 10_000;
const MAX_CONNECTIONS = 50;
/** A process may hold as many descriptors as it likes; no more of one are looked at. */
const MAX_DESCRIPTORS = 8_192;
/** No more connections of the machine are read. */
const MAX_SOCKETS = 65_536;

const LISTENING = '0A';
const ESTABLISHED = '01';

export interface SocketUse {
  readonly ports: readonly number[];
  readonly connections: readonly Connection[];
}

type Socket = { readonly port: number } | Connection;

const NONE: SocketUse = { ports: [], connections: [] };

export class SocketMap {
  #readMs = Number.NEGATIVE_INFINITY;
  #sockets: ReadonlyMap<string, Socket> = new Map();
  #byProcess = new Map<string, readonly Socket[]>();

  /** Reads the sockets of the machine when what is known is older than ten seconds. */
  async refresh(breather: Breather, nowMs: number): Promise<void> {
    if (nowMs - this.#readMs < KEPT_MS) return;
    this.#readMs = nowMs;
    this.#byProcess = new Map();
    this.#sockets = await readSockets(breather);
  }

  /** What these processes use together; `key` identifies each. */
  async useOf(
    processes: readonly { readonly pid: number; readonly key: string }[],
    breather: Breather,
  ): Promise<SocketUse> {
    if (this.#sockets.size === 0) return NONE;
    const ports = new Set<number>();
    const connections: Connection[] = [];
    for (const { pid, key } of processes) {
      const known = this.#byProcess.get(key) ?? (await this.#read(pid, breather));
      this.#byProcess.set(key, known);
      for (const socket of known) {
        if ('port' in socket) ports.add(socket.port);
        else if (connections.length < MAX_CONNECTIONS) connections.push(socket);
      }
    }
    return { ports: [...ports].sort((a, b) => a - b), connections };
  }

  async #read(pid: number, breather: Breather): Promise<readonly Socket[]> {
    const sockets: Socket[] = [];
    for (const name of procNames(`/proc/${pid}/fd`).slice(0, MAX_DESCRIPTORS)) {
      const link = procLink(`/proc/${pid}/fd/${name}`);
      const socket = link?.startsWith('socket:[') ? this.#sockets.get(link.slice(8, -1)) : undefined;
      if (socket !== undefined) sockets.push(socket);
      if (breather.isDue) await breather.breathe();
    }
    return sockets;
  }
}

async function readSockets(breather: Breather): Promise<ReadonlyMap<string, Socket>> {
  const sockets = new Map<string, Socket>();
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const lines = (procText(file) ?? '').split('\n').slice(1, MAX_SOCKETS);
    for (const line of lines) {
      const [, local = '', remote = '', state, , , , , , inode] = line.trim().split(/ +/);
      if (inode === undefined) continue;
      if (state === LISTENING) sockets.set(inode, { port: addressOf(local)[1] });
      else if (state === ESTABLISHED) sockets.set(inode, { local: addressOf(local), remote: addressOf(remote) });
      if (breather.isDue) await breather.breathe();
    }
  }
  return sockets;
}

/** The kernel writes an address as words of four bytes, each in the byte order of the machine, and the port plainly. */
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
