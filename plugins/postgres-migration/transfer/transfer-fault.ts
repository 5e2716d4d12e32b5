// Why a transfer ended without a result, in words that hold no value of a row, no address and no secret.
import type { TransferError } from './task.ts';

export class TransferFault extends Error {
  readonly fault: TransferError;

  constructor(fault: TransferError, cause?: unknown) {
    super(fault.message, { cause });
    this.fault = fault;
  }
}

/** What a table's fault is told by; `rule` and `rowid` may be absent. */
export type TableFault = Omit<TransferError, 'message'> & { readonly table: string };

/** Far more than PostgreSQL allows. A file or a server that was made to do harm has longer ones. */
const MAX_NAME = 255;

/** `words` say what is wrong and what to do. The place is put before them. */
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
