// The databases of the managed PostgreSQL: made, looked into, renamed and dropped. A database is known by its number
// (OID), which stays under every name, so that an interrupted migration can be continued or undone.
import type { Host } from '#core';
import type { PostgresServer } from '../service-postgres/contract.ts';
import type { MigrationService } from './contract.ts';
import type { JobWork } from './job.ts';

type MovedDatabase = JobWork['databases'][number];

export interface ServerFacts {
  readonly version: string;
  readonly encoding: string;
  readonly role: { readonly superuser: boolean; readonly createdb: boolean };
}

export interface DatabaseContent {
  readonly oid: number;
  readonly tableCount: number;
  /** Rows by the server's statistics; if these know of none, the number of tables that have rows. */
  readonly rowCount: number;
}

export interface MadeSchema {
  /** Versions of its schema that the program has recorded. */
  readonly versions: readonly string[];
  readonly tables: number;
}

const STATEMENT_MS = 60_000;
/** Large databases take long to be removed. */
const REMOVAL_MS = 600_000;
const NO_SUCH_DATABASE = '3D000';
const NO_SUCH_TABLE = '42P01';
const FACTS = `SELECT current_setting('server_version') AS version,
  (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'template0') AS encoding,
  rolsuper AS superuser, rolcreatedb AS createdb FROM pg_roles WHERE rolname = current_user`;
const TABLES = `SELECT format('%I.%I', n.nspname, c.relname) AS name,
    coalesce(pg_stat_get_live_tuples(c.oid), 0)::float8 AS live
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'`;
/** Lower OIDs belong to objects of the server itself (PostgreSQL documentation, "OID Assignment"). */
const FIRST_OWN_OID = 16_384;
/** The connection limit by which PostgreSQL marks a database before it removes the files ("invalid database"). */
const CONNECTIONS_OF_A_REST = -2;
/** Statements that create, rename or drop a database take no parameters. */
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export class Server {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  get managed(): PostgresServer {
    return this.#host.use('postgres.server');
  }

  async facts(): Promise<ServerFacts> {
    const [row = {}] = await this.managed.query({ sql: FACTS, limitMs: 10_000 });
    return {
      version: String(row.version),
      encoding: String(row.encoding),
      role: { superuser: row.superuser === true, createdb: row.createdb === true },
    };
  }

  /** null when there is no database of this name, or only one whose removal was cut off. */
  async content(database: string): Promise<DatabaseContent | null> {
    const { oid, isRest } = (await this.#find(database)) ?? { oid: null, isRest: false };
    if (oid === null || isRest) return null;
    const tables = await this.managed.query({ database, sql: TABLES, limitMs: 20_000 }).catch((error: unknown) => {
      if (codeOf(error) === NO_SUCH_DATABASE) return null;
      throw error;
    });
    if (tables === null) return null;
    const counted = tables.reduce((sum, { live }) => sum + Number(live), 0);
    return { oid, tableCount: tables.length, rowCount: counted || (await this.#filled(database, tables)) };
  }

  /** What a program has made so far; counts as nothing while the table of its versions is missing. */
  async schema(database: string, { table, column }: MigrationService['versions']): Promise<MadeSchema> {
    const tables = `SELECT count(*)::int FROM pg_class WHERE relkind IN ('r', 'p') AND oid >= ${FIRST_OWN_OID}`;
    const sql = `SELECT ${quoted(column)}::text AS version, (${tables}) AS tables FROM ${quoted(table)} ORDER BY 1`;
    try {
      const rows = await this.managed.query({ database, sql });
      return { versions: rows.map(({ version }) => String(version)), tables: Number(rows[0]?.tables ?? 0) };
    } catch (error) {
      // The database or the table is not made yet.
      if ([NO_SUCH_DATABASE, NO_SUCH_TABLE].includes(codeOf(error))) return { versions: [], tables: 0 };
      throw error;
    }
  }

  /** Makes an empty database, in place of one that an earlier try has left, and gives its number. */
  async create(name: string): Promise<number> {
    await this.drop(name);
    const { user } = this.managed.access();
    await this.#run(`CREATE DATABASE ${quoted(name)} OWNER ${quoted(user)} TEMPLATE template0 ENCODING 'UTF8'`);
    const oid = await this.#oidOf(name);
    if (oid === null) throw new Error(`the database ${name} is gone again; somebody else has dropped it`);
    return oid;
  }

  /** Drops the database after ending its sessions. Does nothing when there is none. */
  async drop(name: string): Promise<void> {
    const found = await this.#find(name);
    if (found === null) return;
    // A database whose removal was cut off takes no connections and cannot be altered.
    if (!found.isRest) await this.#close(name);
    await this.#run(`DROP DATABASE IF EXISTS ${quoted(name)}`, REMOVAL_MS);
  }

  /** Drops databases that were set aside, if their names still have the same OIDs. */
  async dropPreserved(preserved: JobWork['preserved']): Promise<void> {
    for (const { oid, name } of preserved) if ((await this.#oidOf(name)) === oid) await this.drop(name);
  }

  async endSessions(name: string): Promise<void> {
    await this.managed.query({
      sql: 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
      values: [name],
    });
  }

  /**
   * Gives each database its final name; a database that had it is renamed to `previous.name`. Nobody can connect
   * meanwhile.
   */
  async promote(databases: readonly MovedDatabase[]): Promise<void> {
    for (const { target, staging, previous } of databases) {
      if (previous !== null) {
        await this.#close(target);
        await this.#run(`ALTER DATABASE ${quoted(target)} RENAME TO ${quoted(previous.name)}`);
        await this.#open(previous.name);
      } else if ((await this.#find(target))?.isRest) await this.drop(target);
      await this.#close(staging);
      await this.#run(`ALTER DATABASE ${quoted(staging)} RENAME TO ${quoted(target)}`);
      await this.#open(target);
    }
  }

  /**
   * Takes back a promotion, even one that was done in part, and drops the databases that the job has made. Can be
   * repeated.
   */
  async undo(databases: readonly MovedDatabase[]): Promise<void> {
    for (const { target, staging, stagingOid, previous } of databases) {
      await this.drop(staging);
      if (stagingOid !== null && (await this.#oidOf(target)) === stagingOid) await this.drop(target);
      if (previous === null) continue;
      if ((await this.#oidOf(previous.name)) === previous.oid) {
        // A start of the server makes missing databases of its list, so one may have this name again.
        const present = await this.content(target);
        if (present !== null && present.tableCount > 0)
          throw new Error(`${target} was made anew meanwhile; ${previous.name} keeps what it held before`);
        await this.drop(target);
        await this.#close(previous.name);
        await this.#run(`ALTER DATABASE ${quoted(previous.name)} RENAME TO ${quoted(target)}`);
      }
      if ((await this.#oidOf(target)) === previous.oid) await this.#open(target);
    }
  }

  async #oidOf(name: string): Promise<number | null> {
    return (await this.#find(name))?.oid ?? null;
  }

  /** `isRest`: the removal of the database was cut off, as by the end of the server, and it can only be dropped. */
  async #find(name: string): Promise<{ readonly oid: number; readonly isRest: boolean } | null> {
    const sql = `SELECT oid::int8::float8 AS oid, datconnlimit = ${CONNECTIONS_OF_A_REST} AS rest
      FROM pg_database WHERE datname = $1`;
    const [row] = await this.managed.query({ sql, values: [name] });
    return row === undefined ? null : { oid: Number(row.oid), isRest: row.rest === true };
  }

  /** How many of the tables have rows. Needed because a database that was just restored has no statistics yet. */
  async #filled(database: string, tables: readonly Readonly<Record<string, unknown>>[]): Promise<number> {
    if (tables.length === 0) return 0;
    const looks = tables.map(({ name }) => `(SELECT count(*) FROM (SELECT 1 FROM ${String(name)} LIMIT 1) one)`);
    const [row] = await this.managed.query({ database, sql: `SELECT (${looks.join(' + ')})::float8 AS filled` });
    return Number(row?.filled ?? 0);
  }

  async #close(name: string): Promise<void> {
    await this.#run(`ALTER DATABASE ${quoted(name)} ALLOW_CONNECTIONS false`);
    await this.endSessions(name);
  }

  async #open(name: string): Promise<void> {
    await this.#run(`ALTER DATABASE ${quoted(name)} ALLOW_CONNECTIONS true`);
  }

  async #run(sql: string, limitMs = STATEMENT_MS): Promise<void> {
    await this.managed.query({ sql, limitMs });
  }
}

/** SQLSTATE of an error of the server, or the code of a system error; empty for any other error. */
export function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown } | null)?.code ?? '');
}
