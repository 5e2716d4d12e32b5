// A gzip file that is made of pieces. Each piece was compressed by itself, so it can be used again in other files: it
// ends at a whole byte and refers to nothing before it.
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/** The level of compression for answers that a client waits for. */
export const FAST = 1;
/** The level of compression for data that is stored. */
export const BEST = 6;
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty deflate block that is marked as the last one. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** The polynomial of CRC-32, in reversed bit order. */
const POLYNOMIAL = 0xed_b8_83_20;
const ONE = 0x80_00_00_00;
const X = 0x40_00_00_00;
const BITS_OF_BYTE = 8;
const SMALL_BYTES = 1_024;

export interface Piece {
  /** Compressed. */
  readonly bytes: Buffer;
  /** Length of the text in bytes. */
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

/** The gzip file of the pieces, one after the other. */
export function gzipOf(pieces: readonly Piece[]): Buffer {
  const end = new FileEnd();
  for (const piece of pieces) end.add(piece);
  return Buffer.concat([HEAD, ...pieces.map(({ bytes }) => bytes), end.bytes()]);
}

/**
 * The same file, yielded as pieces come. Small pieces are joined. Large ones are not copied, because the copies would
 * cause more garbage collections, each of which pauses the thread.
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

/** The end of a gzip file, after its pieces: the last block, the checksum and the length. */
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

/** The CRC-32 of two texts together, from their checksums: the first is shifted by the length of the second. */
function joinedChecksum(first: number, second: number, secondLength: number): number {
  let shift = ONE;
  let power = X;
  for (let bits = secondLength * BITS_OF_BYTE; bits > 0; bits = Math.floor(bits / 2)) {
    if (bits % 2 === 1) shift = product(power, shift);
    power = product(power, power);
  }
  return (product(shift, first) ^ second) >>> 0;
}

/** The product of two polynomials whose coefficients are bits, modulo the polynomial of CRC-32. */
function product(a: number, b: number): number {
  let sum = 0;
  let moved = b;
  for (let left = a; left !== 0; left = (left << 1) >>> 0) {
    if ((left & ONE) !== 0) sum ^= moved;
    moved = (moved & 1) === 0 ? moved >>> 1 : (moved >>> 1) ^ POLYNOMIAL;
  }
  return sum >>> 0;
}
