// A gzip file that is made of pieces, each of which was compressed by itself, so that what is known is not compressed
// again. A piece ends at a whole byte and refers to nothing before it.
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/** For what is made while somebody waits. */
export const FAST = 1;
/** For what is kept. */
export const BEST = 6;
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty block that says that it is the last. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** The polynomial of the checksum, its lowest power first. */
const POLYNOMIAL = 0xed_b8_83_20;
const ONE = 0x80_00_00_00;
const X = 0x40_00_00_00;
const BITS_OF_BYTE = 8;
const SMALL_BYTES = 1_024;

export interface Piece {
  /** Compressed. */
  readonly bytes: Buffer;
  /** Of the text, in bytes. */
  readonly length: number;
  /** Checksum of the text. */
  readonly crc: number;
}

export function pieceOf(text: Buffer, level = FAST): Piece {
  const bytes = deflateRawSync(text, { level, finishFlush: constants.Z_SYNC_FLUSH });
  return { bytes, length: text.length, crc: crc32(text) };
}

export function textOfPiece({ bytes }: Piece): Buffer {
  return inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
}

/** The file whose text is that of the pieces, one after the other. */
export function gzipOf(pieces: readonly Piece[]): Buffer {
  const end = new FileEnd();
  for (const piece of pieces) end.add(piece);
  return Buffer.concat([HEAD, ...pieces.map(({ bytes }) => bytes), end.bytes()]);
}

/**
 * The same file, as pieces come. What is small is joined, and what is not goes out as it came: copies of it would have
 * the memory of the thread collected the more often, each time with a pause.
 */
export async function* gzipFile(pieces: AsyncIterable<Piece>): AsyncGenerator<Buffer> {
  const end = new FileEnd();
  let small: Buffer[] = [HEAD];
  for await (const piece of pieces) {
    end.add(piece);
    if (piece.bytes.length < SMALL_BYTES) {
      small.push(piece.bytes);
      continue;
    }
    if (small.length > 0) yield Buffer.concat(small);
    small = [];
    yield piece.bytes;
  }
  yield Buffer.concat([...small, end.bytes()]);
}

/** What stands behind the pieces of a file. */
class FileEnd {
  #crc = 0;
  #length = 0;

  add({ crc, length }: Piece): void {
    this.#crc = joinedChecksum(this.#crc, crc, length);
    this.#length += length;
  }

  bytes(): Buffer {
    const end = Buffer.alloc(8);
    end.writeUInt32LE(this.#crc, 0);
    end.writeUInt32LE(this.#length % 2 ** 32, 4);
    return Buffer.concat([LAST_BLOCK, end]);
  }
}

/** The checksum of two texts together: that of the first, moved past the second. */
function joinedChecksum(first: number, second: number, secondLength: number): number {
  let shift = ONE;
  let power = X;
  for (let bits = secondLength * BITS_OF_BYTE; bits > 0; bits = Math.floor(bits / 2)) {
    if (bits % 2 === 1) shift = product(power, shift);
    power = product(power, power);
  }
  return (product(shift, first) ^ second) >>> 0;
}

/** Of two polynomials whose coefficients are bits, modulo that of the checksum. */
function product(a: number, b: number): number {
  let sum = 0;
  let moved = b;
  for (let left = a; left !== 0; left = (left << 1) >>> 0) {
    if ((left & ONE) !== 0) sum ^= moved;
    moved = (moved & 1) === 0 ? moved >>> 1 : (moved >>> 1) ^ POLYNOMIAL;
  }
  return sum >>> 0;
}
