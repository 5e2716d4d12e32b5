// Reads values of a table from the pages of a SQLite file, a piece at a time, because SQLite itself gives a value only
// as a whole.
import { cellAt, MAX_DEPTH, PAGE_NUMBER_BYTES, type Pages, rowidIn, type TreePage, varint } from './pages.ts';

export interface StoredValue {
  readonly isText: boolean;
  readonly bytes: number;
  /** The bytes as stored, a text in the encoding of the file. Each call begins anew. */
  pieces(): Generator<Buffer>;
}

/** The part of a row in its leaf: all of it, or its beginning and the page where the row continues. */
interface Cell {
  readonly bytes: number;
  readonly begin: Buffer;
  readonly overflowPage: number;
}

const PIECE_BYTES = 64 * 1_024;
/** Bytes of a number by its serial type. Larger types mean blobs (even) and texts (odd). */
const NUMBER_BYTES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0];

export class StoredRows {
  readonly #pages: Pages;
  readonly #rootPage: number;

  constructor(pages: Pages, rootPage: number) {
    this.#pages = pages;
    this.#rootPage = rootPage;
  }

  /** `place` is the index among the stored columns. Throws an Error when the value is neither a blob nor a text. */
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
      const page = this.#pages.tree(number);
      if (page.isLeaf) return this.#cellIn(page, rowid);
      number = childOf(page, rowid);
    }
    throw new Error(`the pages of the table do not lead to row ${rowid}`);
  }

  #cellIn(page: TreePage, rowid: bigint): Cell {
    for (let index = 0; index < page.cells; index += 1) {
      if (rowidIn(page, index) !== rowid) continue;
      const [size, next] = varint(page.bytes, cellAt(page, index));
      const [, begin] = varint(page.bytes, next);
      const bytes = Number(size);
      const kept = this.#pages.bytesInLeaf(bytes);
      const overflowPage = kept === bytes ? 0 : page.bytes.readUInt32BE(begin + kept);
      return { bytes, begin: page.bytes.subarray(begin, begin + kept), overflowPage };
    }
    throw new Error(`row ${rowid} is not where the pages of its table lead to`);
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
      const page = this.#pages.read(next).subarray(0, this.#pages.usableBytes);
      next = page.readUInt32BE(0);
      piece = page.subarray(PAGE_NUMBER_BYTES, PAGE_NUMBER_BYTES + bytes - at);
    }
  }
}

/** Joins pieces to larger ones, because a page is small. */
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

function childOf(page: TreePage, rowid: bigint): number {
  for (let index = 0; index < page.cells; index += 1) {
    const cell = cellAt(page, index);
    const [key] = varint(page.bytes, cell + PAGE_NUMBER_BYTES);
    if (rowid <= BigInt.asIntN(64, key)) return page.bytes.readUInt32BE(cell);
  }
  return page.lastChild;
}

function bytesOf(type: bigint): number {
  return NUMBER_BYTES[Number(type)] ?? Math.floor((Number(type) - NUMBER_BYTES.length) / 2);
}
