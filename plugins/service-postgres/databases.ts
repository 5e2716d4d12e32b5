// Creates the databases in which services keep their data, and runs single statements.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Logger } from '#core';
import { BoundedSocket } from '#kit/bounded-socket';
import { errorText } from '#kit/error-text';
import { secretiveClient } from '#kit/pg-client';
import type { ServerAccess, ServerQuery } from './contract.ts';

const CONNECT_LIMIT_MS = 5_000;
const POLL_MS = 250;
const STATEMENT_LIMIT_MS = 60_000;
/** How much the answer with the names of all databases may have. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** How much the rows of a statement of other plugins may have. */
const MAX_ROWS_BYTES = 8 * 1024 * 1024;
const MAINTENANCE = 'postgres';
/** Any number that nobody else locks in the database `postgres`. The lock ends with its session. */
const CREATION_LOCK = 7_824_119;

export interface DatabaseServer extends ServerAccess {
  /** Names of the databases that must exist. */
  readonly databases: readonly string[];
}

export interface Creation {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How long to wait for an answer of the server, in milliseconds. */
  readonly limitMs: number;
}

/**
 * Waits until the server answers, then creates missing databases, each owned by the server's user. Throws an Error
 * about those that the server refuses after the others are created.
 */
export async function createDatabases(server: DatabaseServer, { log, signal, limitMs }: Creation): Promise<void> {
  const { client, socket } = await connect(server, signal, limitMs);
  try {
    if ((await missingOn(client, server)).length === 0) return;
    // At a first start several ask at once; each refusal of the server would be an error in its log.
    await client.query('SELECT pg_advisory_lock($1)', [CREATION_LOCK]);
    const refused: string[] = [];
    for (const name of await missingOn(client, server)) {
      const [database, owner] = [client.escapeIdentifier(name), client.escapeIdentifier(server.user)];
      try {
        await client.query(`CREATE DATABASE ${database} OWNER ${owner}`);
        log.info(`the database ${name} was created`);
      } catch (error) {
        if (isThere(error)) continue;
        if (!isOfServer(error)) throw error;
        refused.push(`${name}: ${errorText(error)}`);
      }
    }
    if (refused.length > 0) throw new Error(refused.join('; '));
  } finally {
    // A server that hangs never closes its side.
    client.end().catch(() => undefined);
    socket.destroySoon();
  }
}

async function missingOn(client: Client, { databases }: DatabaseServer): Promise<string[]> {
  const { rows } = await client.query<{ datname: string }>('SELECT datname FROM pg_database');
  const existing = new Set(rows.map(row => row.datname));
  return databases.filter(wanted => !existing.has(wanted));
}

/** Returns the rows of one statement. Rejects with the error of the server or of the connection. */
export async function runQuery(
  access: ServerAccess,
  { database = MAINTENANCE, sql, values = [], limitMs = STATEMENT_LIMIT_MS }: ServerQuery,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { client, socket } = await open(access, { database, limitMs, maxBytes: MAX_ROWS_BYTES });
  try {
    return (await client.query(sql, [...values])).rows;
  } finally {
    client.end().catch(() => undefined);
    socket.destroySoon();
  }
}

async function connect(server: DatabaseServer, signal: AbortSignal, limitMs: number): Promise<Opened> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await open(server, {
        database: MAINTENANCE,
        limitMs: STATEMENT_LIMIT_MS,
        maxBytes: MAX_ANSWER_BYTES,
      });
    } catch (error) {
      if (performance.now() >= deadline || isRefusal(error)) throw error;
      await delay(POLL_MS, undefined, { signal });
    }
  }
}

interface Opened {
  readonly client: Client;
  readonly socket: BoundedSocket;
}

async function open(
  { host, port, user, password }: ServerAccess,
  { database, limitMs, maxBytes }: { readonly database: string; readonly limitMs: number; readonly maxBytes: number },
): Promise<Opened> {
  // Imported on use, because most installations have no database server.
  const { default: pg } = await import('pg');
  const socket = new BoundedSocket(maxBytes);
  const client = new (secretiveClient(pg.Client))({
    host,
    port,
    user,
    password,
    database,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: limitMs,
    stream: () => socket,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return { client, socket };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/**
 * Whether another client has created the database meanwhile (duplicate_database, or unique_violation of the catalog).
 */
function isThere(error: unknown): boolean {
  return ['42P04', '23505'].includes(String((error as { code?: unknown }).code));
}

/** Whether the server has answered with the error, so that other statements may succeed. */
function isOfServer(error: unknown): boolean {
  return (error as { severity?: unknown }).severity !== undefined;
}

/**
 * Whether a retry is useless: the password was refused, or the server asks for it in clear text. Codes: PostgreSQL,
 * appendix A, class 28.
 */
function isRefusal(error: unknown): boolean {
  const code = String((error as { code?: unknown }).code ?? '');
  return code === 'ECLEARTEXT' || code.startsWith('28');
}
