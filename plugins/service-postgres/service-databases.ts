// The databases of services on the managed server: which are wanted, and their creation, one after the other.
import type { Host } from '#core';
import type { WizardUser } from '../wizard/contract.ts';
import { createDatabases } from './databases.ts';
import type { ManagedServer } from './managed-server.ts';
import { databasesOf } from './placeholders.ts';

export class ServiceDatabases {
  readonly #host: Host;
  readonly #server: ManagedServer;
  #creating: Promise<void> = Promise.resolve();
  /** The server and databases, as JSON, whose existence was last confirmed. */
  #created = '';
  /** The same of the attempt that was queued last, until it ends. */
  #queued = '';

  constructor(host: Host, server: ManagedServer) {
    this.#host = host;
    this.#server = server;
  }

  /** Makes the next `create` check again, because the server may have other data now. */
  forget(): void {
    this.#created = '';
    this.#queued = '';
  }

  /**
   * Creates missing databases; waits up to `limitMs` for an answer of the server. A failure is only logged, because the
   * service that needs its database reports more about it. Calls during an attempt share it, so that many services
   * which start together do not wait for a server that hangs one after the other.
   */
  create(limitMs: number): Promise<void> {
    const queued = JSON.stringify(this.#server.server());
    if (queued === this.#queued) return this.#creating;
    this.#queued = queued;
    this.#creating = this.#creating
      .then(async () => {
        const server = this.#server.server();
        const wanted = JSON.stringify(server);
        if (wanted === this.#created) return;
        const { log, signal } = this.#host;
        await createDatabases(server, { log, signal, limitMs });
        this.#created = wanted;
      })
      .catch((error: unknown) => this.#host.log.error('the databases could not be created', error))
      .finally(() => {
        if (this.#queued === queued) this.#queued = '';
      });
    return this.#creating;
  }
}

/** Adds the databases of these services to the server's own list. */
export function withDatabases(
  own: Readonly<Record<string, unknown>>,
  users: readonly WizardUser[],
): Record<string, unknown> {
  const present = (own.databases ?? []) as ({ name: string; enabled: boolean } | null)[];
  const names = users.flatMap(({ block, template }) => databasesOf(block, template));
  const missing = names.filter(name => !present.some(database => database?.name === name && database.enabled));
  if (missing.length === 0) return {};
  const kept = present.filter(database => database === null || !missing.includes(database.name));
  return { databases: [...kept, ...missing.map(name => ({ name, enabled: true }))] };
}
