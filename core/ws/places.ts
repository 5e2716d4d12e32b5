// The clients of one stream, limited in number. When all places are taken, a client whose network has few of them gets
// one of the network that has most.
import { largestHolder } from '../kit/fair-share.ts';
import type { Client } from './client.ts';

const MAX_CLIENTS = 128;

export class Places {
  readonly #clients = new Set<Client>();

  /** The one that has been there longest first. */
  clients(): Client[] {
    return [...this.#clients];
  }

  isOpenTo(network: string): boolean {
    return this.#clients.size < MAX_CLIENTS || this.#findSurplus(network) !== undefined;
  }

  /** Only while there is a place for its network. */
  add(client: Client): void {
    if (this.#clients.size >= MAX_CLIENTS)
      this.#findSurplus(client.network)?.close(1013, 'This stream is full, and others have fewer connections to it');
    this.#clients.add(client);
  }

  remove(client: Client): void {
    this.#clients.delete(client);
  }

  /** The newest of its network, because a flood comes after those that were there before it. */
  #findSurplus(claimant: string): Client | undefined {
    const clients = this.clients();
    const largest = largestHolder(
      clients.map(({ network }) => network),
      claimant,
    );
    return largest === undefined ? undefined : clients.findLast(({ network }) => network === largest);
  }
}
