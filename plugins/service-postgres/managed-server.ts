// The managed server as other plugins use it: they can enable it, start it and add databases.
import { setTimeout as delay } from 'node:timers/promises';
import { type ConfigObject, type Host, type NamedBlock, Problem } from '#core';
import { clientHost } from '#kit/client-host';
import { deepEqual } from '#kit/deep-equal';
import type { ProcessSupervisor, TcpAddress } from '../process/contract.ts';
import type { PostgresServer, ServerAccess, ServerQuery } from './contract.ts';
import { createDatabases, type DatabaseServer, runQuery } from './databases.ts';
import { checkServer } from './server-probe.ts';
import { findServerPrograms } from './server-program.ts';

const POLL_MS = 250;
const ANSWER_MS = 10_000;

type Listed = { readonly name?: unknown; readonly enabled?: unknown } | null;

export class ManagedServer implements PostgresServer {
  readonly #host: Host;
  readonly #key: string;

  constructor(host: Host, key: string) {
    this.#host = host;
    this.#key = key;
  }

  access(): ServerAccess {
    const { host, port, user, password } = this.options();
    return { host: clientHost(host), port: Number(port), user: String(user), password: String(password ?? '') };
  }

  /** The access to the server, and the names of the databases that must exist. */
  server(): DatabaseServer {
    const databases = this.#databases()
      .filter(entry => typeof entry?.name === 'string' && entry.name !== '' && entry.enabled !== false)
      .map(entry => String(entry?.name));
    return { ...this.access(), databases };
  }

  /** The waits of a service; those from its template (`given`) get the server's present address, users' own stay. */
  waitedFor(waits: readonly TcpAddress[], given: unknown): TcpAddress[] {
    const { host, port } = this.access();
    const isGiven = (wait: TcpAddress): boolean => [given ?? []].flat().some(other => deepEqual(other, wait));
    return waits.map(wait => (isGiven(wait) ? { ...wait, host, port } : wait));
  }

  isRegistered(database: string): boolean {
    return this.server().databases.includes(database);
  }

  isDisabled(database: string): boolean {
    return this.#databases().some(entry => entry?.name === database) && !this.isRegistered(database);
  }

  async register(database: string): Promise<void> {
    await this.#change(() => {
      const { enabled } = this.options();
      const isListed = this.isRegistered(database);
      const present = this.#databases();
      const databases = this.isDisabled(database)
        ? present.map(entry => (entry?.name === database ? { ...entry, enabled: true } : entry))
        : [...present, { name: database, enabled: true }];
      return { ...(enabled === true ? {} : { enabled: true }), ...(isListed ? {} : { databases }) };
    });
  }

  async unregister(databases: readonly string[], disabled: readonly string[] = []): Promise<void> {
    await this.#change(() => {
      const present = this.#databases();
      const kept = present.flatMap(entry => {
        const name = entry?.name;
        if (typeof name !== 'string' || !databases.includes(name)) return [entry];
        return disabled.includes(name) ? [{ ...entry, enabled: false }] : [];
      });
      return deepEqual(kept, present) ? {} : { databases: kept };
    });
  }

  /** Saves members of the block. The list of databases is saved whole, so it must be made of the present one. */
  async #change(members: () => ConfigObject): Promise<void> {
    const updates = () => {
      const changed = members();
      return Object.keys(changed).length === 0 ? {} : { [this.#key]: changed };
    };
    await this.#host.use('config.store').update({ updates, persist: true, actor: this.#host.name });
  }

  query(query: ServerQuery): ReturnType<PostgresServer['query']> {
    return runQuery(this.access(), query);
  }

  place(): ReturnType<PostgresServer['place']> {
    const { process_name: processName, config_dir: directory, enabled } = this.options();
    if (typeof processName !== 'string') return undefined;
    return {
      processName,
      directory: typeof directory === 'string' ? directory : undefined,
      isEnabled: enabled === true,
    };
  }

  async programs(): Promise<string | undefined> {
    const { config_dir: directory } = this.options();
    return typeof directory === 'string' ? findServerPrograms(directory, process.env.PATH ?? '') : undefined;
  }

  heldFor(): string | null {
    const { supervisor, name } = this.#process();
    return supervisor.get(name)?.held?.reason ?? null;
  }

  isUp(): boolean {
    const { supervisor, name } = this.#process();
    const status = supervisor.get(name)?.status;
    return status === 'running' || status === 'starting';
  }

  async start({ by, signal }: { readonly by: string; readonly signal: AbortSignal }): Promise<void> {
    const { supervisor, name } = this.#process();
    // Called even if the server is up, because it may have ended just now; starting a running process does nothing.
    await supervisor.start(name, 'request', by);
    await this.ready({ signal });
  }

  async ready({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { supervisor, name, block } = this.#process();
    for (;;) {
      signal.throwIfAborted();
      const { status = 'stopped', lastFailureReason, lastExit } = supervisor.get(name) ?? {};
      const ended = lastExit?.unexpected === true ? lastExit.reason : 'it was stopped';
      if (status === 'stopped') throw new Problem(503, `${name} does not run: ${lastFailureReason ?? ended}`);
      if (status === 'running' && (await checkServer(block().block))?.status === 'healthy') return;
      await delay(this.#host.paced(POLL_MS), undefined, { signal });
    }
  }

  async createDatabases({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    await createDatabases(this.server(), { log: this.#host.log, signal, limitMs: ANSWER_MS });
  }

  options(): Readonly<Record<string, unknown>> {
    return (this.#host.use('config.store').get(this.#key) ?? {}) as Readonly<Record<string, unknown>>;
  }

  /** The list as users wrote it; members without a name are kept, and name no database. */
  #databases(): readonly Listed[] {
    return (this.options().databases ?? []) as Listed[];
  }

  /** Throws a Problem 503 when the configuration has no server. */
  #process(): { supervisor: ProcessSupervisor; name: string; block: () => NamedBlock } {
    const block = (): NamedBlock => {
      const found = this.#host
        .use('config.store')
        .blocks()
        .find(({ configKey }) => configKey === this.#key);
      if (found === undefined) throw new Problem(503, `the configuration has no block ${this.#key}`);
      return found;
    };
    return { supervisor: this.#host.use('process.supervisor'), name: block().processName, block };
  }
}
