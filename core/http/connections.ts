// The connections of all listeners together, limited so that clients never use up the descriptors that supervision
// needs. At the limit, the connection that was idle longest is closed for a new one. When none is idle, one of the
// network with the most connections is closed, if it is upgraded or carries an answer that may be cut.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../kit/client-address.ts';
import { descriptorLimit } from '../kit/descriptors.ts';
import { largestHolder } from '../kit/fair-share.ts';
import { refuseSocket } from '../kit/refusal.ts';

/**
 * A connection that is forwarded to a service holds a second descriptor, and the last third stays for everything else.
 */
const SHARE_OF_DESCRIPTORS = 1 / 3;
/** Each connection also costs memory. */
const MAX_CONNECTIONS = 1_024;
const CUT = 'There are too many connections, and other clients have fewer; try again in a moment';

interface Use {
  /** The network of the client that sent the last request; before the first one, that of the peer, perhaps a proxy. */
  network: string;
  /** Number of requests that the connection carries at present. */
  requests: number;
  isUpgraded: boolean;
  /** The answer that may be cut, until it is closed. */
  cuttable: ServerResponse | undefined;
}

export class Connections {
  readonly #networkOf: (request: IncomingMessage) => string;
  readonly #limit = Math.min(MAX_CONNECTIONS, Math.floor(descriptorLimit() * SHARE_OF_DESCRIPTORS));
  readonly #uses = new Map<Socket, Use>();
  /** Connections that carry no complete request, the one that was idle longest first. */
  readonly #idle = new Set<Socket>();

  /** `networkOf` returns the network of the client that sent a request, even through proxies. */
  constructor(networkOf: (request: IncomingMessage) => string) {
    this.#networkOf = networkOf;
  }

  /** Counts a new connection until it closes. Returns false when there is no room and none can be closed for it. */
  admit(socket: Socket): boolean {
    const network = networkOf(socket.remoteAddress ?? '');
    if (this.#uses.size >= this.#limit && !this.#closeIdlest() && !this.#closeSurplus(network)) return false;
    this.#uses.set(socket, { network, requests: 0, isUpgraded: false, cuttable: undefined });
    this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
    return true;
  }

  has(socket: Socket): boolean {
    return this.#uses.has(socket);
  }

  /** A request has arrived completely. */
  use(request: IncomingMessage): void {
    const use = this.#uses.get(request.socket);
    if (use === undefined) return;
    use.network = this.#networkOf(request);
    use.requests += 1;
    this.#idle.delete(request.socket);
  }

  /** The connection leaves HTTP, and stays in use until it is closed. */
  upgrade(request: IncomingMessage): void {
    this.use(request);
    const use = this.#uses.get(request.socket);
    if (use !== undefined) use.isUpgraded = true;
  }

  /**
   * Marks an answer that may take so long that it may be cut for another client. From now on the connection counts as
   * in use, even while the request is still arriving.
   */
  allowCut(response: ServerResponse): void {
    const { req: request } = response;
    const use = this.#uses.get(request.socket);
    if (use === undefined || response.closed) return;
    use.cuttable = response;
    this.use(request);
    response.once('close', () => this.release(request.socket));
  }

  /** Whether the connection carries a request that is still arriving and whose answer may be cut. */
  isReceiving(socket: Socket): boolean {
    const cuttable = this.#uses.get(socket)?.cuttable;
    return isOpen(cuttable) && !cuttable.req.complete;
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

  /**
   * Closes a connection of the network with the most connections, if the network `claimant` has at least two fewer.
   * Plain requests to the host are never cut, because they end by themselves.
   */
  #closeSurplus(claimant: string): boolean {
    const uses = [...this.#uses];
    const largest = largestHolder(
      uses.map(([, { network }]) => network),
      claimant,
    );
    const surplus = uses.findLast(([, use]) => use.network === largest && (use.isUpgraded || isOpen(use.cuttable)));
    if (surplus === undefined) return false;
    const [socket, { cuttable }] = surplus;
    if (isOpen(cuttable) && !cuttable.headersSent) {
      this.#forget(socket);
      refuseSocket(socket, 503, CUT);
    } else this.#close(socket);
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

function isOpen(response: ServerResponse | undefined): response is ServerResponse {
  return response?.closed === false;
}
