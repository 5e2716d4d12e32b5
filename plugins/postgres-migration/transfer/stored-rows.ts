// Values of a table as they stand in the pages of a file of SQLite, a piece at a time, because SQLite itself gives a value
// only as a whole. The file is at rest: nobody writes to it, and no write-ahead log has newer pages. Their form is that of
// https://www.sqlite.org/fileformat2.html.
import { readSync } from 'node:fs';

export interface StoredValue {
  readonly isText: boolean;
  readonly bytes: number;
  /** As stored, in the encoding of the file. Each call begins anew. */
  pieces(): Generator<Buffer>;
}

/** What a leaf holds of a row: all of it, or its begin and the page where it goes on. */
interface Cell {
  readonly bytes: number;
  readonly begin: Buffer;
  readonly overflowPage: number;
}

const FILE_HEADER_BYTES = 100;
const PAGE_BYTES_OFFSET = 16;
const RESERVED_OFFSET = 20;
const LARGEST_PAGE = 65_536;
const INTERIOR = 5;
const LEAF = 13;
const CELL_COUNT_OFFSET = 3;
const LAST_CHILD_OFFSET = 8;
const INTERIOR_HEADER_BYTES = 12;
const LEAF_HEADER_BYTES = 8;
const PAGE_NUMBER_BYTES = 4;
const PIECE_BYTES = 64 * 1_024;
/** More than a file of any size has. */
const MAX_DEPTH = 40;
/** By the serial type of a number. From the next one on, blobs and texts have even and odd types. */
const NUMBER_BYTES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0];

export class StoredRows {
  readonly #fd: number;
  readonly #rootPage: number;
  readonly #pageBytes: number;
  /** Of a page, without what extensions of SQLite have reserved at its end. */
  readonly #usableBytes: number;

  constructor(fd: number, rootPage: number) {
    this.#fd = fd;
    this.#rootPage = rootPage;
    const header = this.#read(0, FILE_HEADER_BYTES);
    const pageBytes = header.readUInt16BE(PAGE_BYTES_OFFSET);
    this.#pageBytes = pageBytes === 1 ? LARGEST_PAGE : pageBytes;
    this.#usableBytes = this.#pageBytes - header.readUInt8(RESERVED_OFFSET);
  }

  /** `place` counts the columns that are stored. Throws an Error when no blob or text stands there. */
  value(rowid: bigint, place: number): StoredValue {
    const cell = this.#find(rowid);
    const [headBytes, first] = varint(cell.begin, 0);
    let at = first;
    let offset = Number(headBytes);
    for (let column = 0; column < place; column += 1) {
      const [type, next] = varint(cell.begin, at);
      offset += bytesOf(type);
      at = next;
    }
    const [type] = varint(cell.begin, at);
    if (at >= Number(headBytes) || type < NUMBER_BYTES.length) throw new Error(`no long value stands in row ${rowid}`);
    return {
      isText: type % 2n === 1n,
      bytes: bytesOf(type),
      pieces: () => joined(this.#pieces(cell, offset, bytesOf(type))),
    };
  }

  #find(rowid: bigint): Cell {
    let number = this.#rootPage;
    for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
      const page = this.#read((number - 1) * this.#pageBytes, this.#pageBytes);
      const start = number === 1 ? FILE_HEADER_BYTES : 0;
      const kind = page.readUInt8(start);
      const count = page.readUInt16BE(start + CELL_COUNT_OFFSET);
      if (kind === LEAF) return this.#cellIn(page, start + LEAF_HEADER_BYTES, count, rowid);
      if (kind !== INTERIOR) break;
      number = childOf(page, start, count, rowid);
    }
    throw new Error(`the pages of the table do not lead to row ${rowid}`);
  }

  #cellIn(page: Buffer, pointers: number, count: number, rowid: bigint): Cell {
    for (let index = 0; index < count; index += 1) {
      const [size, next] = varint(page, page.readUInt16BE(pointers + 2 * index));
      const [key, begin] = varint(page, next);
      if (BigInt.asIntN(64, key) !== rowid) continue;
      const bytes = Number(size);
      const kept = this.#bytesInLeaf(bytes);
      const overflowPage = kept === bytes ? 0 : page.readUInt32BE(begin + kept);
      return { bytes, begin: page.subarray(begin, begin + kept), overflowPage };
    }
    throw new Error(`row ${rowid} is not where the pages of its table lead to`);
  }

  #bytesInLeaf(bytes: number): number {
    const most = this.#usableBytes - 35;
    if (bytes <= most) return bytes;
    const least = Math.floor(((this.#usableBytes - 12) * 32) / 255) - 23;
    const kept = least + ((bytes - least) % (this.#usableBytes - PAGE_NUMBER_BYTES));
    return kept <= most ? kept : least;
  }

  *#pieces({ bytes, begin, overflowPage }: Cell, from: number, length: number): Generator<Buffer> {
    let piece = begin;
    let at = 0;
    let next = overflowPage;
    for (;;) {
      const part = piece.subarray(Math.max(0, from - at), Math.max(0, from + length - at));
      if (part.length > 0) yield part;
      at += piece.length;
      if (at >= from + length) return;
      if (next === 0) throw new Error('a value of the database is cut off');
      const page = this.#read((next - 1) * this.#pageBytes, this.#usableBytes);
      next = page.readUInt32BE(0);
      piece = page.subarray(PAGE_NUMBER_BYTES, PAGE_NUMBER_BYTES + Math.min(this.#usableBytes, bytes - at));
    }
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    if (readSync(this.#fd, bytes, 0, length, position) !== length) throw new Error('the database is cut off');
    return bytes;
  }
}

/** The same in fewer pieces, because a page is small. */
function* joined(pieces: Iterable<Buffer>): Generator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    parts.push(piece);
    bytes += piece.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(parts);
    parts = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(parts);
}

function childOf(page: Buffer, start: number, count: number, rowid: bigint): number {
  const pointers = start + INTERIOR_HEADER_BYTES;
  for (let index = 0; index < count; index += 1) {
    const cell = page.readUInt16BE(pointers + 2 * index);
    const [key] = varint(page, cell + PAGE_NUMBER_BYTES);
    if (rowid <= BigInt.asIntN(64, key)) return page.readUInt32BE(cell);
  }
  return page.readUInt32BE(start + LAST_CHILD_OFFSET);
}

function bytesOf(type: bigint): number {
  return NUMBER_BYTES[Number(type)] ?? Math.floor((Number(type) - NUMBER_BYTES.length) / 2);
}

/** Seven bits of each byte, of which the upper one says that more follow, and all of the ninth; with the place behind it. */
function varint(bytes: Buffer, at: number): [value: bigint, next: number] {
  let value = 0n;
  for (let index = at; ; index += 1) {
    const byte = bytes.readUInt8(index);
    if (index === at + 8) return [(value << 8n) | BigInt(byte), index + 1];
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return [value, index + 1];
  }
}
