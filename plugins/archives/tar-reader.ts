// Reads a tar archive, packed or not. An archive with anything that the parser does not understand is refused.
import { Header } from 'tar/header';
import { Parser } from 'tar/parse';
import type { ReadEntry } from 'tar/read-entry';
import type { Budget } from './budget.ts';
import type { ArchiveEntry, ArchiveReader, ContentSink } from './entry.ts';
import type { PackedFile } from './packed-file.ts';
import { ArchiveRefusal, refuseEntry } from './refusal.ts';

const MAX_NOTE_BYTES = 1024 * 1024;
const BLOCK_BYTES = 512;
/** Occurs in the extended header of a sparse file, which the parser otherwise gives as an ordinary file. */
const SPARSE = /^\d+ GNU\.sparse\./m;

const KINDS: Readonly<Record<string, ArchiveEntry['kind']>> = {
  File: 'file',
  OldFile: 'file',
  ContiguousFile: 'file',
  Directory: 'directory',
  GNUDumpDir: 'directory',
  SymbolicLink: 'link',
  Link: 'hardlink',
  CharacterDevice: 'device',
  BlockDevice: 'device',
  FIFO: 'device',
};

export class TarReader implements ArchiveReader {
  readonly #file: PackedFile;

  constructor(file: PackedFile) {
    this.#file = file;
  }

  async each(budget: Budget, visit: (entry: ArchiveEntry) => ContentSink | undefined): Promise<void> {
    const parser = parserFor(budget, visit);
    let isBegun = false;
    let isOver = false;
    parser.on('eof', () => {
      isOver = true;
    });
    for await (const piece of this.#file.unpacked(budget)) {
      if (!isBegun && !isTar(piece)) throw new ArchiveRefusal('it is neither tar nor zip nor deb');
      isBegun = true;
      // The parser would keep all pieces after the end, and copy them for each further piece.
      if (!isOver) parser.write(piece);
    }
    if (!isBegun) throw new ArchiveRefusal('it is empty');
    parser.end();
  }

  release(): void {
    this.#file.release();
  }
}

/** An error of a listener is thrown by the call of `write` or `end` in which the listener runs. */
function parserFor(budget: Budget, visit: (entry: ArchiveEntry) => ContentSink | undefined): Parser {
  const parser = new Parser({ strict: true, maxMetaEntrySize: MAX_NOTE_BYTES, brotli: false, zstd: false });
  let index = 0;
  let isSparse = false;
  parser.on('error', (error: Error) => {
    throw error instanceof ArchiveRefusal ? error : new ArchiveRefusal(`it is damaged (${error.message})`);
  });
  parser.on('meta', (note: string) => {
    budget.countNotes(note.length);
    isSparse ||= SPARSE.test(note);
  });
  parser.on('ignoredEntry', ({ path, type }: ReadEntry) => refuseEntry(path, `is of the kind ${type}`));
  parser.on('entry', (found: ReadEntry) => {
    budget.countEntry();
    if (isSparse) refuseEntry(found.path, 'is of the kind SparseFile');
    const sink = visit(told(found, index));
    index += 1;
    if (sink !== undefined) found.on('data', piece => sink.write(piece)).on('end', () => sink.end());
    found.resume();
  });
  return parser;
}

function told({ path: name, type, size, mode = 0, linkpath = '' }: ReadEntry, index: number): ArchiveEntry {
  const kind = KINDS[type] ?? 'device';
  return { index, name, kind, bytes: kind === 'file' ? size : 0, mode, target: linkpath };
}

/** Whether the piece begins with the header of an entry with a valid checksum, or with the end of an empty archive. */
function isTar(piece: Buffer): boolean {
  if (piece.length < BLOCK_BYTES) return false;
  try {
    const header = new Header(piece.subarray(0, BLOCK_BYTES));
    return header.nullBlock || header.cksumValid;
  } catch {
    // The header throws for a field that is not a number.
    return false;
  }
}
