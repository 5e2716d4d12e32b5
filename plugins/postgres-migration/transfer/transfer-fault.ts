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

/** `words` say what is wrong and what to do. The place is put before them. */
export function faultIn(fault: TableFault, words: string, cause?: unknown): TransferFault {
  const { table, column, rowid } = fault;
  const place = [
    `table ${shown(table)}`,
    ...(column === undefined ? [] : [`column ${shown(column)}`]),
    ...(rowid === undefined ? [] : [`row id ${rowid}`]),
  ].join(', ');
  return new TransferFault({ ...fault, message: `${place[0]?.toUpperCase()}${place.slice(1)}: ${words}` }, cause);
}

/** A name from a file, in one line. */
function shown(name: string): string {
  return JSON.stringify(name);
}
