// Turns lines of a text `COPY` into rows of a binary one, for rows that are not plain enough to be made in binary form
// at once.
import { BINARY_GROWTH, type BinaryForm, binaryForm, writeUint32 } from './binary-value.ts';
import type { ColumnPlan } from './column-plan.ts';

/** The beginning of a binary `COPY`: its signature, no flags, and no extension of the header. */
export const BINARY_START: Uint8Array = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** The end of a binary `COPY`: -1 in place of the number of values of a further row. */
export const BINARY_END: Uint8Array = Buffer.of(0xff, 0xff);
/** The length that stands for NULL. */
export const NO_LENGTH = 0xffff_ffff;
export const COUNT_BYTES = 2;
export const LENGTH_BYTES = 4;

const [TAB, LINE_END, BACKSLASH, CAPITAL_N] = [9, 10, 92, 78];
/** The byte that an escape means, by the byte behind the backslash. */
const ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const SIGNS = Buffer.from('\b\t\n\v\f\r');
for (const [index, written] of Buffer.from('btnvfr').entries()) ESCAPED[written] = SIGNS[index] as number;

export class BinaryRows {
  readonly #forms: readonly (BinaryForm | undefined)[];
  /** The pieces of a line whose end has not come yet. */
  #begun: Uint8Array[] = [];
  /** The place in the lines that is read next. */
  #place = 0;

  constructor(columns: readonly ColumnPlan[]) {
    this.#forms = columns.map(({ type }) => binaryForm(type));
  }

  /** Gives the rows whose lines end in `piece`, which may begin and end anywhere. */
  add(piece: Uint8Array): Uint8Array {
    const end = piece.lastIndexOf(LINE_END) + 1;
    if (end === 0) {
      this.#begun.push(piece);
      return new Uint8Array(0);
    }
    const lines =
      this.#begun.length === 0 ? piece.subarray(0, end) : Buffer.concat([...this.#begun, piece.subarray(0, end)]);
    this.#begun = end === piece.length ? [] : [piece.subarray(end)];
    return this.#rows(lines);
  }

  #rows(lines: Uint8Array): Uint8Array {
    const columns = this.#forms.length;
    let values = 0;
    for (const byte of lines) if (byte === TAB || byte === LINE_END) values += 1;
    const rows = new Uint8Array(lines.length + values * (LENGTH_BYTES + COUNT_BYTES + BINARY_GROWTH));
    let at = 0;
    let index = 0;
    for (this.#place = 0; this.#place < lines.length; this.#place += 1) {
      if (index === 0) at = writeCount(rows, at, columns);
      const isValue = lines[this.#place] !== BACKSLASH || lines[this.#place + 1] !== CAPITAL_N;
      at = isValue ? this.#writeValue(lines, rows, at, this.#forms[index]) : this.#writeNull(rows, at);
      index = index === columns - 1 ? 0 : index + 1;
    }
    return rows.subarray(0, at);
  }

  /** Writes the length of the value at `#place`, and the value; gives the place behind it in `rows`. */
  #writeValue(lines: Uint8Array, rows: Uint8Array, at: number, form: BinaryForm | undefined): number {
    const start = at + LENGTH_BYTES;
    let place = this.#place;
    let end = start;
    for (let byte = lines[place] as number; byte !== TAB && byte !== LINE_END; byte = lines[place] as number) {
      if (byte === BACKSLASH) place += 1;
      rows[end] = byte === BACKSLASH ? (ESCAPED[lines[place] as number] as number) : byte;
      end += 1;
      place += 1;
    }
    this.#place = place;
    end = form?.(rows, start, end) ?? end;
    writeUint32(rows, at, end - start);
    return end;
  }

  #writeNull(rows: Uint8Array, at: number): number {
    this.#place += 2;
    writeUint32(rows, at, NO_LENGTH);
    return at + LENGTH_BYTES;
  }
}

function writeCount(rows: Uint8Array, at: number, columns: number): number {
  rows[at] = columns >> 8;
  rows[at + 1] = columns;
  return at + COUNT_BYTES;
}
