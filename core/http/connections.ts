// The connections of all listeners together, limited so that clients never use up the descriptors that supervision
// needs. At the limit the connection that was idle longest makes room for a new one.
import type { Socket } from 'node:net';
import { descriptorLimit } from '../kit/descriptors.ts';

/**
 * A forwarded connection holds a second descriptor, towards its service, and a third of all stays for everything else.
 */
const SHARE_OF_DESCRIPTORS = 1 / 3;
/** Each connection also costs memory. */
const MAX_CONNECTIONS = 1_024;

export class Connections {
  readonly #limit = Math.min(MAX_CONNECTIONS, Math.floor(descriptorLimit() * SHARE_OF_DESCRIPTORS));
  /** Number of requests that each connection carries at present. */
  readonly #requests = new Map<Socket, number>();
  /** Those whose clients are awaited, the one that was idle longest first. */
  readonly #idle = new Set<Socket>();

  /** Counts a new connection until it closes. False when there is no room, because every other one is in use. */
  admit(socket: Socket): boolean {
    if (this.#requests.size >= this.#limit && !this.#closeIdlest()) return false;
    this.#requests.set(socket, 0);
    this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
    return true;
  }

  has(socket: Socket): boolean {
    return this.#requests.has(socket);
  }

  /** A request has arrived completely; an upgraded connection stays in use. */
  use(socket: Socket): void {
    const count = this.#requests.get(socket);
    if (count === undefined) return;
    this.#requests.set(socket, count + 1);
    this.#idle.delete(socket);
  }

  /** A request has been answered. */
  release(socket: Socket): void {
    const count = this.#requests.get(socket);
    if (count === undefined) return;
    this.#requests.set(socket, count - 1);
    if (count === 1) this.#idle.add(socket);
  }

  closeIdle(): void {
    while (this.#closeIdlest());
  }

  #closeIdlest(): boolean {
    const [socket] = this.#idle;
    if (socket === undefined) return false;
    this.#forget(socket);
    socket.destroy();
    return true;
  }

  #forget(socket: Socket): void {
    this.#requests.delete(socket);
    this.#idle.delete(socket);
  }
}
