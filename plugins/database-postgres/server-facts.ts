// What a server's statistics say about databases, read in a read-only session. No table of a database is read.
import { BoundedSocket } from '#kit/bounded-socket';
import { errorText } from '#kit/error-text';
import { secretiveClient } from '#kit/pg-client';
import { WorkQueue } from '#kit/work-queue';
import type { DatabaseFacts } from '../database-health/contract.ts';
import type { Address } from './address.ts';

const LIMIT_MS = 2_000;
/** After this time the socket is closed, even if the server has not ended the session. */
const SESSION_LIMIT_MS = 5_000;
/** After this time no further database is asked, so that the caller gets the answers before its own deadline. */
const ALL_LIMIT_MS = 4_500;
const MAX_AT_ONCE = 4;
/** How much a session may receive, which asks for a few numbers only. */
const MAX_BYTES = 256 * 1024;
const NO_SUCH_DATABASE = '3D000';

const COUNTERS = `SELECT numbackends, xact_commit, xact_rollback, blks_read, blks_hit, temp_files, temp_bytes, deadlocks,
    conflicts, pg_database_size(datid) AS size
  FROM pg_stat_database WHERE datname = current_database()`;
const ACTIVITY = `SELECT count(*) FILTER (WHERE wait_event_type = 'Lock') AS waiters,
    coalesce(extract(epoch FROM max(now() - xact_start)), 0) AS oldest
  FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;

interface Counters {
  readonly deadlocks: number;
  readonly rollbacks: number;
  readonly tempBytes: number;
}

type Row = Readonly<Record<string, unknown>>;

/** A database of a service, and where it is. */
export interface Wanted {
  readonly role: string;
  readonly address: Address;
}

export class ServerFacts {
  /** The counters of the previous reading, by service and database. */
  readonly #before = new Map<string, Counters>();

  /** Facts about each wanted database, in the same order. Never rejects: an error becomes `probeError`. */
  async read(processName: string, wanted: readonly Wanted[]): Promise<DatabaseFacts[]> {
    const queue = new WorkQueue({ concurrency: MAX_AT_ONCE });
    const until = performance.now() + ALL_LIMIT_MS;
    return Promise.all(
      wanted.map(({ role, address }) =>
        queue.add(async (): Promise<DatabaseFacts> => {
          const known = { role, name: address.database, enhancedProbe: true };
          const started = performance.now();
          if (started > until) return { ...known, exists: null, probeError: 'There was no time left to ask for it' };
          const timing = () => ({ probeMs: Math.round((performance.now() - started) * 10) / 10 });
          try {
            const found = this.#factsOf(`${processName}\0${address.database}`, await rowsOf(address));
            return { ...known, exists: true, ...found, ...timing() };
          } catch (error) {
            if ((error as { code?: unknown }).code === NO_SUCH_DATABASE)
              return { ...known, exists: false, error: 'There is no such database on the server', ...timing() };
            return { ...known, exists: null, probeError: errorText(error), ...timing() };
          }
        }),
      ),
    );
  }

  #factsOf(key: string, [counters, activity]: readonly [Row, Row]): object {
    const number = (value: unknown): number => Number(value ?? 0);
    const read = number(counters.blks_read);
    const hit = number(counters.blks_hit);
    const now = {
      deadlocks: number(counters.deadlocks),
      rollbacks: number(counters.xact_rollback),
      tempBytes: number(counters.temp_bytes),
    };
    const before = this.#before.get(key) ?? now;
    this.#before.set(key, now);
    return {
      sizeBytes: number(counters.size),
      connections: number(counters.numbackends),
      transactionsCommitted: number(counters.xact_commit),
      transactionsRolledBack: now.rollbacks,
      blocksRead: read,
      blocksHit: hit,
      cacheHitPercent: read + hit === 0 ? null : Math.round((hit / (read + hit)) * 10_000) / 100,
      tempFiles: number(counters.temp_files),
      tempBytes: now.tempBytes,
      deadlocks: now.deadlocks,
      conflicts: number(counters.conflicts),
      // A counter that was reset is lower than before, which must not give a negative number.
      deadlocksDelta: Math.max(0, now.deadlocks - before.deadlocks),
      rollbacksDelta: Math.max(0, now.rollbacks - before.rollbacks),
      tempBytesDelta: Math.max(0, now.tempBytes - before.tempBytes),
      lockWaiters: number(activity.waiters),
      oldestTransactionSeconds: Math.round(number(activity.oldest)),
    };
  }
}

async function rowsOf(address: Address): Promise<[Row, Row]> {
  // Imported on use, because most installations never read a server's facts.
  const { default: pg } = await import('pg');
  const socket = new BoundedSocket(MAX_BYTES);
  const client = new (secretiveClient(pg.Client))({
    ...address,
    stream: () => socket,
    application_name: 'stackwarden',
    connectionTimeoutMillis: LIMIT_MS,
    statement_timeout: LIMIT_MS,
    query_timeout: LIMIT_MS,
    options: '-c default_transaction_read_only=on',
  });
  client.on('error', () => undefined);
  const limit = setTimeout(() => socket.destroy(new Error('the server does not answer')), SESSION_LIMIT_MS);
  try {
    await client.connect();
    const { rows: counters } = await client.query<Row>(COUNTERS);
    const { rows: activity } = await client.query<Row>(ACTIVITY);
    return [counters[0] ?? {}, activity[0] ?? {}];
  } finally {
    clearTimeout(limit);
    client.end().catch(() => undefined);
    socket.destroySoon();
  }
}
