// Adds the managed server to the server list of pgAdmin's first account, in pgAdmin's own database. Entries of users
// stay, and so do their changes of this one.
import type { PostgresServer } from '../service-postgres/contract.ts';

type Row = Readonly<Record<string, unknown>>;

const DATABASE = 'pgadmin';
/** Values by type for columns that need a value and are not known here. */
const EMPTY: Readonly<Record<string, unknown>> = { integer: 0, smallint: 0, bigint: 0, boolean: false };
const COLUMNS = `SELECT column_name, data_type, is_nullable = 'NO' AND column_default IS NULL AS is_needed
  FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'server'`;
const ACCOUNT = `SELECT account.id AS user_id, min(own.id) AS servergroup_id
  FROM "user" account JOIN servergroup own ON own.user_id = account.id WHERE account.email = $1 GROUP BY account.id`;
const KNOWN = `SELECT id, host, port, username FROM server WHERE user_id = $1 AND (name = $2 OR (host = $3 AND port = $4))
  ORDER BY name = $2 DESC`;

export interface Registered {
  readonly email: string;
  readonly name: string;
  /** Path of the password file, in the account's storage. */
  readonly passfile: string;
}

/** Whether something was changed. Throws an Error while pgAdmin has not made its tables. */
export async function register(server: PostgresServer, { email, name, passfile }: Registered): Promise<boolean> {
  const ask = (sql: string, values: readonly unknown[] = []) => server.query({ database: DATABASE, sql, values });
  const { host, port, user } = server.access();
  const columns = await ask(COLUMNS);
  if (columns.length === 0) throw new Error('pgAdmin has not made its tables yet');
  const [account] = await ask(ACCOUNT, [email]);
  // The owner may have renamed or removed the account.
  if (account === undefined) return false;
  const [known] = await ask(KNOWN, [account.user_id, name, host, port]);
  if (known !== undefined) {
    if (known.host === host && Number(known.port) === port && known.username === user) return false;
    await ask('UPDATE server SET host = $2, port = $3, username = $4 WHERE id = $1', [known.id, host, port, user]);
    return true;
  }
  const given: Row = {
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
    if (Object.hasOwn(given, key)) return [[key, given[key]] as const];
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

/** The name of an account's folder in the storage, as pgAdmin makes it. */
export function storageFolder(email: string): string {
  const folder = email.replaceAll('@', '_').replaceAll(/[/\\]/g, 'slash');
  return /^(?:\d|$)/.test(folder) ? `pga_user_${folder}` : folder;
}

/** One line of a libpq password file; `\` and `:` in fields are escaped. */
export function passwordLine(fields: readonly (string | number)[]): string {
  return `${fields.map(field => String(field).replaceAll(/[\\:]/g, '\\$&')).join(':')}\n`;
}
