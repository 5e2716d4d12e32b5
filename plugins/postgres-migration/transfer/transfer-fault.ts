// Why a transfer ended without a result, in words that hold no value of a row, no address and no secret.
import type { TransferError } from './task.ts';

export class TransferFault extends Error {
  readonly fault: TransferError;

  constructor(fault: TransferError, cause?: unknown) {
    super(fault.message, { cause });
    this.fault = fault;
  }
}

/** A fault in a table, without its message; `rule` and `rowid` may be absent. */
export type TableFault = Omit<TransferError, 'message'> & { readonly table: string };

/**
 * Names are cut to this length, which is far more than PostgreSQL allows, because a malicious file or server may have
 * longer ones.
 */
const MAX_NAME = 255;

/** Makes a fault whose message begins with the place. `words` say what is wrong and what to do. */
export function faultIn(fault: TableFault, words: string, cause?: unknown): TransferFault {
  const table = fault.table.slice(0, MAX_NAME);
  const column = fault.column?.slice(0, MAX_NAME);
  const { rowid } = fault;
  const place = [
    `table ${shown(table)}`,
    ...(column === undefined ? [] : [`column ${shown(column)}`]),
    ...(rowid === undefined ? [] : [`row id ${rowid}`]),
  ].join(', ');
  const message = `${place[0]?.toUpperCase()}${place.slice(1)}: ${words}`;
  return new TransferFault({ ...fault, table, ...(column === undefined ? {} : { column }), message }, cause);
}

/** A name from a file or a server, in one line. */
export function shown(name: string): string {
  return JSON.stringify(name.slice(0, MAX_NAME));
}
