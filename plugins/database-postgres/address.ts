// Where a service's database is: as the service's own settings say, otherwise on the managed server.
import { isLoopback } from '#kit/loopback';
import { percentDecoded } from '#kit/percent-decoded';
import type { DatabaseStore } from '../database-health/contract.ts';

export interface Address {
  /** A host name, an IP address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

type Values = Readonly<Record<string, unknown>>;

const DEFAULT_PORT = 5_432;

/** Keywords of .NET connection strings, without blanks and in lower case. */
const KEYWORDS: Readonly<Record<string, keyof Address>> = {
  host: 'host',
  server: 'host',
  port: 'port',
  username: 'user',
  userid: 'user',
  user: 'user',
  password: 'password',
  database: 'database',
};

/** One part of a connection string. It can begin only after a semicolon, which keeps the search linear. */
const KEYWORD = /(?<=^|;)([^=;]+)=(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'|([^;]*))/g;

/** `given` has the placeholders that the managed server provides for the service. */
export function addressOf({ role, name, connection = {} }: DatabaseStore, block: Values, given: Values): Address {
  const own = {
    ...fromKeywords(connection.keywords ?? ''),
    ...fromUri(connection.uri ?? ''),
    ...definedIn(connection),
    ...(connection.socket === undefined ? {} : { host: connection.socket }),
  };
  const usual =
    role === 'logs'
      ? (textOf(block.postgres_log_db) ?? given.postgres_log_db)
      : (textOf(block.postgres_main_db) ?? given.postgres_database);
  return {
    host: own.host ?? textOf(given.postgres_host) ?? '127.0.0.1',
    port: Number(own.port ?? given.postgres_port ?? DEFAULT_PORT),
    user: own.user ?? textOf(given.postgres_user) ?? 'postgres',
    // The managed server's password is not sent to another server.
    password: own.password ?? (own.host === undefined ? (textOf(given.postgres_password) ?? '') : ''),
    database: own.database ?? textOf(usual) ?? name ?? 'postgres',
  };
}

/** Whether the address is a socket or a loopback address of this machine. */
export function isLocal({ host }: Address): boolean {
  return host.startsWith('/') || isLoopback(host);
}

type Parts = Partial<Record<keyof Address, string>>;

function definedIn({ host, port, user, password, database }: Readonly<Record<string, string>>): Parts {
  return Object.fromEntries(
    Object.entries({ host, port, user, password, database }).filter(([, value]) => value !== undefined),
  );
}

function fromUri(text: string): Parts {
  if (!/^postgres(?:ql)?:\/\//i.test(text) || !URL.canParse(text)) return {};
  const { hostname, port, username, password, pathname } = new URL(text);
  const parts = { host: hostname.replace(/^\[|\]$/g, ''), port, user: username, password, database: pathname.slice(1) };
  return Object.fromEntries(
    Object.entries(parts).flatMap(([key, value]) => (value === '' ? [] : [[key, percentDecoded(value)]])),
  );
}

/** `Name=value;Name="a;value"`, where a doubled quote stands for one. */
function fromKeywords(text: string): Parts {
  const parts: Parts = {};
  for (const [, name = '', quoted, single, bare = ''] of text.matchAll(KEYWORD)) {
    const key = KEYWORDS[name.replaceAll(/\s/g, '').toLowerCase()];
    if (key !== undefined) parts[key] = quoted?.replaceAll('""', '"') ?? single?.replaceAll("''", "'") ?? bare.trim();
  }
  return parts;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
