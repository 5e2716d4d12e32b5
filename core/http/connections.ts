// The connections of all listeners together, limited so that clients never use up the descriptors that supervision
// needs. At the limit the connection that was idle longest makes room for a new one; where all are in use, one of the
// network that has most of them, which is upgraded or waits for whatever a service answers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../kit/client-address.ts';
import { descriptorLimit } from '../kit/descriptors.ts';
import { largestHolder } from '../kit/fair-share.ts';
import { refuseSocket } from '../kit/refusal.ts';

/**
 * A forwarded connection holds a second descriptor, towards its service, and a third of all stays for everything else.
 */
const SHARE_OF_DESCRIPTORS = 1 / 3;
/** Each connection also costs memory. */
const MAX_CONNECTIONS = 1_024;
const CUT = 'There are too many connections, and other clients have fewer; try again in a moment';

interface Use {
  /** Of the client that sent the last request; before the first one, of the peer, which may be a proxy. */
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
  /** Those whose clients are awaited, the one that was idle longest first. */
  readonly #idle = new Set<Socket>();

  /** `networkOf` gives what stands for the client of a request, whatever proxies it came through. */
  constructor(networkOf: (request: IncomingMessage) => string) {
    this.#networkOf = networkOf;
  }

  /** Counts a new connection until it closes. False when there is no room, because every other one is in use. */
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
   * The answer may take longer than others can wait for a connection, which is in use while the request arrives, too.
   */
  allowCut(response: ServerResponse): void {
    const { req: request } = response;
    const use = this.#uses.get(request.socket);
    if (use === undefined || response.closed) return;
    use.cuttable = response;
    this.use(request);
    response.once('close', () => this.release(request.socket));
  }

  /** Whether a request is still arriving whose answer may be cut. */
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

  /** Requests to the host itself end by themselves, so that none of them is cut for another client. */
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
