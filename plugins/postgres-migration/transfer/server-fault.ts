// What went wrong with the server, in words of our own, because its messages may hold addresses, users, passwords,
// statements and rows.
import { bareObject } from '#kit/plain-object';
import type { TransferStage } from './task.ts';
import { TransferFault } from './transfer-fault.ts';

/** Sentences by SQLSTATE or its class (PostgreSQL documentation, appendix A), and by codes of system errors. */
const SENTENCES: Readonly<Record<string, string>> = bareObject(
  Object.entries<string>({
    ECONNREFUSED: 'it accepts no connections; see whether it runs',
    ECONNRESET: 'it closed the connection; see whether it still runs',
    EPIPE: 'it closed the connection; see whether it still runs',
    ENOTFOUND: 'its host is not known',
    ETIMEDOUT: 'it does not answer',
    ECLEARTEXT: 'it asks for the password in clear text; set scram-sha-256 in its pg_hba.conf',
    '08': 'the connection was lost; see whether it still runs',
    '28': 'it refused the user or the password of its block',
    '3D': 'the database does not exist',
    '42501': 'its user must be a superuser',
    '53100': 'its disk is full; free some space',
    '53200': 'it has no memory left',
    '53300': 'it has too many connections',
    '55P03': 'another session holds a table; end what uses the database',
    '57014': 'a statement was cancelled',
    '57P01': 'it is being stopped',
    '57P02': 'it crashed',
    '57P03': 'it does not accept clients yet',
  }),
);
const CODE = /^\w{1,20}$/;

export function serverFault(
  error: unknown,
  place: { readonly stage: TransferStage; readonly label: string; readonly table?: string },
): TransferFault {
  if (error instanceof TransferFault) return error;
  return new TransferFault({ message: `PostgreSQL: ${reasonOf(error)}`, code: 'transfer.server', ...place }, error);
}

function reasonOf(error: unknown): string {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
  if (typeof code === 'string')
    return SENTENCES[code] ?? SENTENCES[code.slice(0, 2)] ?? `it failed (${CODE.test(code) ? code : 'unknown code'})`;
  if (/timeout|took longer/i.test(message)) return 'it does not answer';
  if (/sends more than/.test(message)) return 'it sends more than was asked for; see what answers at its port';
  if (/terminated|ended|closed|destroy|connection error/i.test(message))
    return 'the connection was lost; see whether it still runs';
  return 'it failed for a reason that it did not name';
}
