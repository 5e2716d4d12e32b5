// Creates the databases in which services keep their data.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Logger } from '#core';
import { BoundedSocket } from '#kit/bounded-socket';

const CONNECT_LIMIT_MS = 5_000;
const POLL_MS = 250;
const STATEMENT_LIMIT_MS = 60_000;
/** The names of all databases. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export interface DatabaseServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Names of the databases that must exist. */
  readonly databases: readonly string[];
}

export interface Creation {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How long to wait for an answer of the server, in milliseconds. */
  readonly limitMs: number;
}

/** Waits until the server answers, then creates missing databases, each owned by the server's user. */
export async function createDatabases(server: DatabaseServer, { log, signal, limitMs }: Creation): Promise<void> {
  const { client, socket } = await connect(server, signal, limitMs);
  try {
    const { rows } = await client.query<{ datname: string }>('SELECT datname FROM pg_database');
    const existing = new Set(rows.map(row => row.datname));
    for (const name of server.databases.filter(wanted => !existing.has(wanted))) {
      const [database, owner] = [client.escapeIdentifier(name), client.escapeIdentifier(server.user)];
      try {
        await client.query(`CREATE DATABASE ${database} OWNER ${owner}`);
        log.info(`the database ${name} was created`);
      } catch (error) {
        if (!isThere(error)) throw error;
      }
    }
  } finally {
    // A server that hangs never closes its side.
    client.end().catch(() => undefined);
    socket.destroySoon();
  }
}

async function connect(
  { host, port, user, password }: DatabaseServer,
  signal: AbortSignal,
  limitMs: number,
): Promise<{ readonly client: Client; readonly socket: BoundedSocket }> {
  // Imported on use, because most installations have no database server.
  const { default: pg } = await import('pg');
  const deadline = performance.now() + limitMs;
  for (;;) {
    signal.throwIfAborted();
    const socket = new BoundedSocket(MAX_ANSWER_BYTES);
    const client = new pg.Client({
      host,
      port,
      user,
      password,
      database: 'postgres',
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      query_timeout: STATEMENT_LIMIT_MS,
      stream: () => socket,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return { client, socket };
    } catch (error) {
      socket.destroy();
      if (performance.now() >= deadline || isRefusal(error)) throw error;
      await delay(POLL_MS, undefined, { signal });
    }
  }
}

/** Somebody else created it meanwhile. Codes: duplicate_database, and unique_violation of the list of databases. */
function isThere(error: unknown): boolean {
  return ['42P04', '23505'].includes(String((error as { code?: unknown }).code));
}

/** A wrong password cannot be retried successfully. Codes: PostgreSQL, appendix A, class 28. */
function isRefusal(error: unknown): boolean {
  return String((error as { code?: unknown }).code ?? '').startsWith('28');
}
