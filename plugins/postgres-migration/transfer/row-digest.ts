// A digest of the rows of a table that does not depend on their order: their number, and the sum and the XOR of the
// SHA-256 of each row as `COPY` writes it.
import { createHash, type Hash, hash } from 'node:crypto';

const LINE_END = 10;
/** A sum of 16 bits for each row stays exact in a double for more rows than a table can have. */
const LANES = 16;
const LANE = 2 ** 16;

export interface RowsDigest {
  readonly rows: number;
  readonly sum: string;
  readonly xor: string;
}

export class RowDigest {
  readonly #sums = new Float64Array(LANES);
  readonly #xors = new Uint16Array(LANES);
  #rows = 0;
  #begun: Hash | undefined;

  get rows(): number {
    return this.#rows;
  }

  /** `piece` is part of the lines; it may begin and end anywhere. */
  add(piece: Uint8Array): void {
    let from = 0;
    for (let end = piece.indexOf(LINE_END) + 1; end > 0; end = piece.indexOf(LINE_END, from) + 1) {
      const line = piece.subarray(from, end);
      this.#addRow(this.#begun?.update(line).digest('binary') ?? hash('sha256', line, 'binary'));
      this.#begun = undefined;
      from = end;
    }
    if (from === piece.length) return;
    this.#begun ??= createHash('sha256');
    this.#begun.update(piece.subarray(from));
  }

  get value(): RowsDigest {
    let carry = 0;
    const sums = [...this.#sums].reverse().map(lane => {
      const total = lane + carry;
      carry = Math.floor(total / LANE);
      return hex(total % LANE);
    });
    return { rows: this.#rows, sum: sums.reverse().join(''), xor: [...this.#xors].map(hex).join('') };
  }

  #addRow(digest: string): void {
    this.#rows += 1;
    for (let lane = 0; lane < LANES; lane += 1) {
      const part = digest.charCodeAt(2 * lane) * 256 + digest.charCodeAt(2 * lane + 1);
      this.#sums[lane] = (this.#sums[lane] ?? 0) + part;
      this.#xors[lane] = (this.#xors[lane] ?? 0) ^ part;
    }
  }
}

function hex(lane: number): string {
  return lane.toString(16).padStart(4, '0');
}
