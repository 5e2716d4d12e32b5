// Adds the managed server to the server list of pgAdmin's first account, in pgAdmin's own database. Entries of users
// stay, and so do their changes of this one: only its address, and a user name that was given to it, follow the server.
import { GuardedDirectory } from '#kit/guarded-directory';
import { isObject } from '#kit/plain-object';
import type { PostgresServer } from '../service-postgres/contract.ts';

type Row = Readonly<Record<string, unknown>>;

const DATABASE = 'pgadmin';
/** Values by type for columns that need a value and are not known here. */
const EMPTY: Readonly<Record<string, unknown>> = { integer: 0, smallint: 0, bigint: 0, boolean: false };
const COLUMNS = `SELECT column_name, data_type, is_nullable = 'NO' AND column_default IS NULL AS is_needed
  FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'server'`;
const ACCOUNT = `SELECT account.id AS user_id, min(own.id) AS servergroup_id
  FROM "user" account JOIN servergroup own ON own.user_id = account.id WHERE account.email = $1 GROUP BY account.id`;
const ENTRIES = 'SELECT * FROM server WHERE user_id = $1 ORDER BY name = $2 DESC, id';
const FOLLOW = 'UPDATE server SET host = $2, port = $3, username = $4 WHERE id = $1';
/** A line of a password file, as far as its user, who is the fourth field. */
const LINE = /^(?:(?:\\.|[^\\:])*:){3}((?:\\.|[^\\:])*):/;
const MAX_LINE_BYTES = 16_384;

export interface Registered {
  readonly email: string;
  readonly name: string;
  /** Path of the password file, in the account's storage; the entry that has it is the managed server's. */
  readonly passfile: string;
  /** The users of the server that the entry may have been given. */
  readonly given: ReadonlySet<string>;
}

/** Whether something was changed. Throws an Error while pgAdmin has not made its tables. */
export async function register(server: PostgresServer, { email, name, passfile, given }: Registered): Promise<boolean> {
  const ask = (sql: string, values: readonly unknown[] = []) => server.query({ database: DATABASE, sql, values });
  const { host, port, user } = server.access();
  const columns = await ask(COLUMNS);
  if (columns.length === 0) throw new Error('pgAdmin has not made its tables yet');
  const [account] = await ask(ACCOUNT, [email]);
  // The owner may have renamed or removed the account.
  if (account === undefined) return false;
  const entries = await ask(ENTRIES, [account.user_id, name]);
  const isAt = (entry: Row): boolean => entry.host === host && Number(entry.port) === port;
  const own = entries.find(entry => passfileOf(entry) === passfile);
  if (own !== undefined) {
    const username = given.has(String(own.username)) ? user : own.username;
    if (isAt(own) && own.username === username) return false;
    await ask(FOLLOW, [own.id, host, port, username]);
    return true;
  }
  if (entries.some(entry => entry.name === name || (isAt(entry) && entry.username === user))) return false;
  const values: Row = {
    ...account,
    name,
    host,
    port,
    username: user,
    maintenance_db: 'postgres',
    // Earlier releases have two columns for this, later ones have `connection_params`.
    ssl_mode: 'prefer',
    passfile,
    connection_params: JSON.stringify({ sslmode: 'prefer', connect_timeout: 10, passfile }),
  };
  const entry = columns.flatMap(({ column_name: column, data_type: type, is_needed: isNeeded }) => {
    const key = String(column);
    if (Object.hasOwn(values, key)) return [[key, values[key]] as const];
    return isNeeded === true && key !== 'id' ? [[key, EMPTY[String(type)] ?? ''] as const] : [];
  });
  const places = entry.map((_, index) => `$${index + 1}`).join(', ');
  const names = entry.map(([key]) => `"${key.replaceAll('"', '""')}"`).join(', ');
  await ask(
    `INSERT INTO server (${names}) VALUES (${places})`,
    entry.map(([, value]) => value),
  );
  return true;
}

/** Earlier releases have a column for it. */
function passfileOf({ passfile, connection_params: parameters }: Row): unknown {
  return isObject(parameters) ? parameters.passfile : passfile;
}

/** The name of an account's folder in the storage, as pgAdmin makes it. */
export function storageFolder(email: string): string {
  const folder = email.replaceAll('@', '_').replaceAll(/[/\\]/g, 'slash');
  return /^(?:\d|$)/.test(folder) ? `pga_user_${folder}` : folder;
}

/** One line of a libpq password file; `\` and `:` in fields are escaped. */
export function passwordLine(fields: readonly (string | number)[]): string {
  return `${fields.map(field => String(field).replaceAll(/[\\:]/g, '\\$&')).join(':')}\n`;
}

/** The user in a file of such a line, which pgAdmin's user may have replaced; undefined when there is none. */
export async function userIn(file: string): Promise<string | undefined> {
  const text = await GuardedDirectory.at(file, (place, name) => place.read(name, MAX_LINE_BYTES)).catch(() => null);
  return LINE.exec(text?.toString('utf8') ?? '')?.[1]?.replaceAll(/\\(.)/g, '$1');
}
