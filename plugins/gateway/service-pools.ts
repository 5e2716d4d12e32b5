// Connections to services. Few of them are kept for later requests, because those that wait there are among no
// connections that are counted, and clients could use up the descriptors with them.
import type { Client, Dispatcher, Pool } from 'undici';
import { descriptorLimit } from '#kit/descriptors';

const KEEP_ALIVE_MS = 2 * 60_000;
const SHARE_OF_DESCRIPTORS = 1 / 64;
const MAX_KEPT = 64;

export interface ServicePoolsOptions {
  readonly responseTimeoutMs: number;
  readonly maxHeaderBytes: number;
}

export class ServicePools {
  readonly #options: ServicePoolsOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #kept = new Set<Dispatcher>();
  readonly #maxKept = Math.min(MAX_KEPT, Math.max(1, Math.floor(descriptorLimit() * SHARE_OF_DESCRIPTORS)));

  constructor(options: ServicePoolsOptions) {
    this.#options = options;
  }

  async open({ host, port }: { readonly host: string; readonly port: number }): Promise<Pool> {
    const { Pool } = await import('undici');
    const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const known =
      this.#pools.get(origin) ??
      new Pool(origin, {
        headersTimeout: this.#options.responseTimeoutMs,
        bodyTimeout: 0,
        keepAliveTimeout: KEEP_ALIVE_MS,
        maxHeaderSize: this.#options.maxHeaderBytes,
      })
        .on('connect', (_origin, targets) => this.#count(targets))
        .on('disconnect', (_origin, targets) => this.#forget(targets));
    this.#pools.set(origin, known);
    return known;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map(pool => pool.destroy()));
  }

  /** Told before the first request of a connection is sent. Without pipelining it is closed after its answer. */
  #count(targets: readonly Dispatcher[]): void {
    const client = targets.at(-1) as Client;
    if (this.#kept.size < this.#maxKept) this.#kept.add(client);
    client.pipelining = this.#kept.has(client) ? 1 : 0;
  }

  #forget(targets: readonly Dispatcher[]): void {
    for (const client of targets) this.#kept.delete(client);
  }
}
