// The connections of all listeners together, limited so that clients never use up the descriptors that supervision
// needs. At the limit the connection that was idle longest makes room for a new one; where all are in use, an upgraded
// one of the network that has most of them.
import type { Socket } from 'node:net';
import { networkOf } from '../kit/client-address.ts';
import { descriptorLimit } from '../kit/descriptors.ts';
import { largestHolder } from '../kit/fair-share.ts';

/**
 * A forwarded connection holds a second descriptor, towards its service, and a third of all stays for everything else.
 */
const SHARE_OF_DESCRIPTORS = 1 / 3;
/** Each connection also costs memory. */
const MAX_CONNECTIONS = 1_024;

interface Use {
  /** Of the peer, which may be a proxy. */
  readonly network: string;
  /** Number of requests that the connection carries at present. */
  requests: number;
  isUpgraded: boolean;
}

export class Connections {
  readonly #limit = Math.min(MAX_CONNECTIONS, Math.floor(descriptorLimit() * SHARE_OF_DESCRIPTORS));
  readonly #uses = new Map<Socket, Use>();
  /** Those whose clients are awaited, the one that was idle longest first. */
  readonly #idle = new Set<Socket>();

  /** Counts a new connection until it closes. False when there is no room, because every other one is in use. */
  admit(socket: Socket): boolean {
    const network = networkOf(socket.remoteAddress ?? '');
    if (this.#uses.size >= this.#limit && !this.#closeIdlest() && !this.#closeUpgraded(network)) return false;
    this.#uses.set(socket, { network, requests: 0, isUpgraded: false });
    this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
    return true;
  }

  has(socket: Socket): boolean {
    return this.#uses.has(socket);
  }

  /** A request has arrived completely. */
  use(socket: Socket): void {
    const use = this.#uses.get(socket);
    if (use === undefined) return;
    use.requests += 1;
    this.#idle.delete(socket);
  }

  /** The connection leaves HTTP, and stays in use until it is closed. */
  upgrade(socket: Socket): void {
    this.use(socket);
    const use = this.#uses.get(socket);
    if (use !== undefined) use.isUpgraded = true;
  }

  /** A request has been answered. */
  release(socket: Socket): void {
    const use = this.#uses.get(socket);
    if (use === undefined) return;
    use.requests -= 1;
    if (use.requests === 0) this.#idle.add(socket);
  }

  closeIdle(): void {
    while (this.#closeIdlest());
  }

  #closeIdlest(): boolean {
    const [socket] = this.#idle;
    if (socket === undefined) return false;
    this.#close(socket);
    return true;
  }

  /** Requests end by themselves, so that none of them is cut for another client. */
  #closeUpgraded(claimant: string): boolean {
    const uses = [...this.#uses];
    const largest = largestHolder(
      uses.map(([, { network }]) => network),
      claimant,
    );
    const [socket] = uses.findLast(([, { network, isUpgraded }]) => isUpgraded && network === largest) ?? [];
    if (socket === undefined) return false;
    this.#close(socket);
    return true;
  }

  #close(socket: Socket): void {
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#uses.delete(socket);
    this.#idle.delete(socket);
  }
}
