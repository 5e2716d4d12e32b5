// Reads a zip archive by its central directory, which gives the size and checksum of each content in advance.
import { constants } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { crc32, inflateRawSync } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, type ZipFile } from 'yauzl';
import type { Budget } from './budget.ts';
import type { ArchiveEntry, ArchiveReader, ContentSink } from './entry.ts';
import { FileWindow } from './file-window.ts';
import { PackedFile } from './packed-file.ts';
import { ArchiveRefusal, refuseEntry } from './refusal.ts';

/** Where the Unix mode begins in `external file attributes`, if the archive was made on one of these systems. */
const UNIX_MODE_SHIFT = 16;
const UNIX_SYSTEMS = new Set([3, 19]);
const KINDS = new Map<number, ArchiveEntry['kind']>([
  [constants.S_IFREG, 'file'],
  [constants.S_IFDIR, 'directory'],
  [constants.S_IFLNK, 'link'],
]);
const STORED = 0;
const METHODS = new Set([STORED, 8]);
const MORE = 'is damaged: it holds more than it says';
const MAX_TARGET_BYTES = 4_096;
const LOCAL_HEADER_BYTES = 30;
/** A content of up to this size, packed and unpacked, is unpacked in one step, which costs a tenth of a stream. */
const SMALL_BYTES = 512 * 1024;
/** The least size of chunks that zlib accepts. */
const MIN_CHUNK_BYTES = 64;
/** How much is unpacked in such steps before the event loop gets a turn. */
const TURN_BYTES = 4 * 1024 * 1024;
/** The cost of a file even when it is empty, as a number of bytes. */
const ENTRY_BYTES = 4 * 1024;

export class ZipReader implements ArchiveReader {
  readonly #file: PackedFile;
  readonly #window: FileWindow;
  readonly #bytes: number;

  constructor(descriptor: number, bytes: number) {
    this.#file = new PackedFile(descriptor, 0, bytes);
    this.#window = new FileWindow(descriptor);
    this.#bytes = bytes;
  }

  async each(budget: Budget, visit: (entry: ArchiveEntry) => ContentSink | undefined): Promise<void> {
    const count = budget.counterOf(this.#bytes);
    const entries: Entry[] = [];
    try {
      const options = { decodeStrings: false, autoClose: false };
      const zip = await fromRandomAccessReaderPromise(this.#window, this.#bytes, options);
      for await (const entry of zip.eachEntry()) {
        budget.countEntry();
        count(entry.uncompressedSize);
        entries.push(entry);
      }
      refuseOverlaps(entries);
      let turnBytes = 0;
      for (const [index, entry] of entries.entries()) {
        const sink = visit(await this.#told(zip, entry, index));
        if (sink === undefined) continue;
        await this.#pour(zip, entry, sink);
        turnBytes += ENTRY_BYTES + entry.uncompressedSize;
        if (turnBytes < TURN_BYTES) continue;
        turnBytes = 0;
        await setImmediate();
      }
    } catch (error) {
      if (error instanceof ArchiveRefusal || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
      throw new ArchiveRefusal(`it is damaged (${(error as Error).message})`);
    }
  }

  release(): void {
    // The reader keeps nothing on the disk.
  }

  async #told(zip: ZipFile, entry: Entry, index: number): Promise<ArchiveEntry> {
    const name = nameOf(entry);
    if (entry.isEncrypted()) refuseEntry(name, 'is encrypted');
    if (!METHODS.has(entry.compressionMethod)) refuseEntry(name, `is packed by the method ${entry.compressionMethod}`);
    const isUnix = UNIX_SYSTEMS.has(entry.versionMadeBy >>> 8);
    const unixMode = isUnix ? entry.externalFileAttributes >>> UNIX_MODE_SHIFT : 0;
    const type = unixMode & constants.S_IFMT;
    const kind = type === 0 ? (name.endsWith('/') ? 'directory' : 'file') : (KINDS.get(type) ?? 'device');
    if (kind === 'file' && name.endsWith('/')) refuseEntry(name, 'is a file with the name of a directory');
    if (kind === 'directory' && entry.uncompressedSize > 0) refuseEntry(name, 'is a directory with a content');
    const bytes = kind === 'file' ? entry.uncompressedSize : 0;
    const target = kind === 'link' ? await this.#targetOf(zip, entry, name) : '';
    return { index, name, kind, bytes, mode: unixMode & 0o7777, target };
  }

  async #targetOf(zip: ZipFile, entry: Entry, name: string): Promise<string> {
    if (entry.uncompressedSize > MAX_TARGET_BYTES)
      refuseEntry(name, `is a link of more than ${MAX_TARGET_BYTES} bytes`);
    const pieces: Uint8Array[] = [];
    await this.#pour(zip, entry, { write: piece => void pieces.push(Buffer.from(piece)), end: () => undefined });
    return Buffer.concat(pieces).toString('utf8');
  }

  async #pour(zip: ZipFile, entry: Entry, sink: ContentSink): Promise<void> {
    const { compressedSize, uncompressedSize } = entry;
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    let sum = 0;
    let bytes = 0;
    const take = (piece: Buffer): void => {
      bytes += piece.length;
      if (bytes > uncompressedSize) refuseEntry(nameOf(entry), MORE);
      sum = crc32(piece, sum);
      sink.write(piece);
    };
    if (Math.max(compressedSize, uncompressedSize) <= SMALL_BYTES) {
      const packed = this.#window.at(fileDataStart, compressedSize);
      take(entry.compressionMethod === STORED ? packed : inflated(packed, entry));
    } else {
      const content = this.#file.part(fileDataStart, compressedSize);
      for await (const piece of entry.compressionMethod === STORED ? content.pieces() : content.inflated()) take(piece);
    }
    if (bytes < uncompressedSize) refuseEntry(nameOf(entry), 'is damaged: it holds less than it says');
    sink.end();
    if (sum !== entry.crc32) refuseEntry(nameOf(entry), 'is damaged');
  }
}

/** Unpacks in one step, with memory limited to the size that the entry declares. */
function inflated(packed: Buffer, entry: Entry): Buffer {
  const maxOutputLength = entry.uncompressedSize + 1;
  try {
    return inflateRawSync(packed, { chunkSize: Math.max(MIN_CHUNK_BYTES, maxOutputLength), maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') refuseEntry(nameOf(entry), MORE);
    throw error;
  }
}

function nameOf(entry: Entry): string {
  const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
  return getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
}

/** Refuses contents that share packed bytes, as in a decompression bomb. */
function refuseOverlaps(entries: readonly Entry[]): void {
  const byPlace = entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  let end = 0;
  for (const entry of byPlace) {
    if (entry.relativeOffsetOfLocalHeader < end) refuseEntry(nameOf(entry), 'overlaps another entry');
    end = entry.relativeOffsetOfLocalHeader + LOCAL_HEADER_BYTES + entry.compressedSize;
  }
}
