// The clients of one stream, limited in number. When all places are taken, a client whose network has few of them gets
// the place of a client of the network that has most.
import { largestHolder } from '../kit/fair-share.ts';
import type { Client } from './client.ts';

const MAX_CLIENTS = 128;

export class Places {
  readonly #clients = new Set<Client>();

  /** All clients, the one that came first at the beginning. */
  clients(): Client[] {
    return [...this.#clients];
  }

  isOpenTo(network: string): boolean {
    return this.#clients.size < MAX_CLIENTS || this.#findSurplus(network) !== undefined;
  }

  /** To be called only while `isOpenTo` is true for the network of the client. */
  add(client: Client): void {
    if (this.#clients.size >= MAX_CLIENTS)
      this.#findSurplus(client.network)?.close(1013, 'This stream is full, and others have fewer connections to it');
    this.#clients.add(client);
  }

  remove(client: Client): void {
    this.#clients.delete(client);
  }

  /** The client that loses its place: the newest of the largest network, because a flood comes after usual clients. */
  #findSurplus(claimant: string): Client | undefined {
    const clients = this.clients();
    const largest = largestHolder(
      clients.map(({ network }) => network),
      claimant,
    );
    return largest === undefined ? undefined : clients.findLast(({ network }) => network === largest);
  }
}
