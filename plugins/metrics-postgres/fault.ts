// Describes a failure of the server in a sentence without addresses, users, passwords and statements.
import { Problem } from '#core';

/** A fault whose message is written by this plugin and may be shown as it is. */
export class StoreFault extends Error {}

/** The file of the history is another one than the mark belongs to; PostgreSQL itself works. */
export class FileExchanged extends StoreFault {
  constructor() {
    super('the file of the history was exchanged');
  }
}

/** Sentences by SQLSTATE or its class (PostgreSQL documentation, appendix A), and by error code of the system. */
const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'PostgreSQL accepts no connections; see whether it runs',
  ECONNRESET: 'PostgreSQL closed the connection',
  EPIPE: 'PostgreSQL closed the connection',
  ENOTFOUND: 'the host of PostgreSQL is not known',
  ETIMEDOUT: 'PostgreSQL does not answer',
  ECLEARTEXT: 'PostgreSQL asks for the password in clear text; set scram-sha-256 in its pg_hba.conf',
  '22P05': 'the database in PostgreSQL cannot hold every character; it must have the encoding UTF8',
  '28': 'PostgreSQL refused the user or the password of its block',
  '3D': 'the database does not exist in PostgreSQL',
  '42501': 'PostgreSQL does not let its user make the tables',
  '53100': 'the disk of PostgreSQL is full',
  '53300': 'PostgreSQL has too many connections',
  '57014': 'a statement took too long in PostgreSQL',
  '57P01': 'PostgreSQL is being stopped',
  '57P02': 'PostgreSQL crashed',
  '57P03': 'PostgreSQL does not accept clients yet',
  '08': 'the connection to PostgreSQL was lost',
};

export function sentenceOf(error: unknown): string {
  if (error instanceof StoreFault || error instanceof Problem) return error.message;
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
  if (typeof code === 'string') {
    const known = SENTENCES[code] ?? SENTENCES[code.slice(0, 2)];
    return known ?? `PostgreSQL failed (${/^\w{1,20}$/.test(code) ? code : 'unknown code'})`;
  }
  if (/timeout|took longer/i.test(message)) return 'PostgreSQL does not answer';
  if (/terminated|ended|closed/i.test(message)) return 'the connection to PostgreSQL was lost';
  return 'PostgreSQL failed for a reason that it did not name';
}
