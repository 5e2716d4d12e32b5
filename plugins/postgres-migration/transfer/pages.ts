// The pages of a file of SQLite, and of the tree of one of its tables. The file must be at rest: nothing writes to it,
// and no write-ahead log has newer pages. Their form is that of https://www.sqlite.org/fileformat2.html.
import { fstatSync, readSync } from 'node:fs';

export const PAGE_NUMBER_BYTES = 4;
/** The tree of a table is never as deep as this, whatever the size of the file. */
export const MAX_DEPTH = 40;
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
/** Consecutive pages are read together, up to this many bytes. */
const BLOCK_BYTES = 256 * 1_024;

/** A page of the tree of a table. Its cell pointers say where its cells are. */
export interface TreePage {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly isLeaf: boolean;
  readonly cells: number;
  /** Where the cell pointers begin. */
  readonly pointers: number;
  /** Number of the last child; 0 in a leaf. */
  readonly lastChild: number;
}

export class Pages {
  /** Bytes of a page without those that extensions of SQLite have reserved at its end. */
  readonly usableBytes: number;
  readonly #fd: number;
  readonly #pageBytes: number;
  /** The block that was read last. It holds the pages from `#first` to the one before `#end`. */
  #block: Buffer = Buffer.alloc(0);
  #first = 0;
  #end = 0;
  /** Pages in the last block. The number doubles while blocks follow one another. */
  #ahead = 1;

  constructor(fd: number) {
    this.#fd = fd;
    const header = Buffer.alloc(FILE_HEADER_BYTES);
    readSync(fd, header, 0, header.length, 0);
    const pageBytes = header.readUInt16BE(PAGE_BYTES_OFFSET);
    this.#pageBytes = pageBytes === 1 ? LARGEST_PAGE : pageBytes;
    this.usableBytes = this.#pageBytes - header.readUInt8(RESERVED_OFFSET);
  }

  /** The bytes of a page, in a new buffer. */
  read(number: number): Buffer {
    const bytes = Buffer.alloc(this.#pageBytes);
    if (this.#readAt(number, bytes) !== bytes.length) throw new Error('the database is cut off');
    return bytes;
  }

  tree(number: number): TreePage {
    return treePage(this.read(number), number);
  }

  /** The leaves of a tree in their order. Each is valid until the next one is asked for. */
  *leaves(root: number): Generator<TreePage> {
    const counter = { left: Math.ceil(fstatSync(this.#fd).size / this.#pageBytes) };
    yield* this.#leavesBelow(root, 0, counter);
  }

  /** How many of the bytes of a row lie in its leaf. If there are more, the number of their first page follows. */
  bytesInLeaf(bytes: number): number {
    const most = this.usableBytes - 35;
    if (bytes <= most) return bytes;
    const least = Math.floor(((this.usableBytes - 12) * 32) / 255) - 23;
    const kept = least + ((bytes - least) % (this.usableBytes - PAGE_NUMBER_BYTES));
    return kept <= most ? kept : least;
  }

  /** Puts together a row of `bytes` bytes, of which the first `kept` lie in `page` from `begin` on. */
  whole(page: Buffer, begin: number, kept: number, bytes: number): Buffer {
    const row = Buffer.alloc(bytes);
    page.copy(row, 0, begin, begin + kept);
    let next = page.readUInt32BE(begin + kept);
    for (let at = kept; at < bytes; at += this.usableBytes - PAGE_NUMBER_BYTES) {
      if (next === 0) throw new Error('a row of the database is cut off');
      const overflow = this.read(next);
      next = overflow.readUInt32BE(0);
      overflow.copy(row, at, PAGE_NUMBER_BYTES, this.usableBytes);
    }
    return row;
  }

  *#leavesBelow(number: number, depth: number, counter: { left: number }): Generator<TreePage> {
    counter.left -= 1;
    if (depth > MAX_DEPTH || counter.left < 0) throw new Error('the pages of a table lead to themselves');
    const page = treePage(this.#next(number), number);
    if (page.isLeaf) yield page;
    // Reading a child may replace the block in which `page` lies, so all numbers of children are read first.
    else for (const child of childrenOf(page)) yield* this.#leavesBelow(child, depth + 1, counter);
  }

  /** A page, which is valid until the next call. */
  #next(number: number): Buffer {
    if (number < this.#first || number >= this.#end) this.#readBlock(number);
    const at = (number - this.#first) * this.#pageBytes;
    return this.#block.subarray(at, at + this.#pageBytes);
  }

  #readBlock(number: number): void {
    const most = Math.max(1, BLOCK_BYTES / this.#pageBytes);
    this.#ahead = number === this.#end ? Math.min(most, this.#ahead * 2) : 1;
    if (this.#block.length === 0) this.#block = Buffer.alloc(most * this.#pageBytes);
    const bytes = this.#readAt(number, this.#block.subarray(0, this.#ahead * this.#pageBytes));
    if (bytes < this.#pageBytes) throw new Error('the database is cut off');
    this.#first = number;
    this.#end = number + Math.floor(bytes / this.#pageBytes);
  }

  #readAt(number: number, bytes: Buffer): number {
    if (number < 1) throw new Error('a page of the database has no number');
    return readSync(this.#fd, bytes, 0, bytes.length, (number - 1) * this.#pageBytes);
  }
}

function treePage(bytes: Buffer, number: number): TreePage {
  const start = number === 1 ? FILE_HEADER_BYTES : 0;
  const kind = bytes.readUInt8(start);
  if (kind !== LEAF && kind !== INTERIOR) throw new Error('the pages of a table lead to one of something else');
  const isLeaf = kind === LEAF;
  const cells = bytes.readUInt16BE(start + CELL_COUNT_OFFSET);
  const pointers = start + (isLeaf ? LEAF_HEADER_BYTES : INTERIOR_HEADER_BYTES);
  if (pointers + 2 * cells > bytes.length) throw new Error('a page of the database has more cells than it can hold');
  const lastChild = isLeaf ? 0 : bytes.readUInt32BE(start + LAST_CHILD_OFFSET);
  return { bytes, view: viewOf(bytes), isLeaf, cells, pointers, lastChild };
}

export function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

/**
 * Reads a varint: seven bits of each byte, whose highest bit says that more follow, and all eight of the ninth. `next`
 * is the place behind it.
 */
export function varint(bytes: Buffer, at: number): [value: bigint, next: number] {
  let value = 0n;
  for (let index = at; ; index += 1) {
    const byte = bytes.readUInt8(index);
    if (index === at + 8) return [(value << 8n) | BigInt(byte), index + 1];
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return [value, index + 1];
  }
}

export function cellAt({ bytes, pointers }: TreePage, cell: number): number {
  return bytes.readUInt16BE(pointers + 2 * cell);
}

/** The row id of a cell of a leaf. */
export function rowidIn(page: TreePage, cell: number): bigint {
  const [, at] = varint(page.bytes, cellAt(page, cell));
  return BigInt.asIntN(64, varint(page.bytes, at)[0]);
}

function childrenOf(page: TreePage): number[] {
  const cells = Array.from({ length: page.cells }, (_, cell) => page.bytes.readUInt32BE(cellAt(page, cell)));
  return [...cells, page.lastChild];
}
