// Reads a zip archive by its central directory, which tells the size and the sum of each content in advance.
import { constants } from 'node:fs';
import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, getFileNameLowLevel, type ZipFile } from 'yauzl';
import type { Budget } from './budget.ts';
import type { ArchiveEntry, ArchiveReader, ContentSink } from './entry.ts';
import { ArchiveRefusal, refuseEntry } from './refusal.ts';

/** Of `external file attributes`, when the archive comes from a system that has them. */
const UNIX_MODE_SHIFT = 16;
const UNIX_SYSTEMS = new Set([3, 19]);
const KINDS = new Map<number, ArchiveEntry['kind']>([
  [constants.S_IFREG, 'file'],
  [constants.S_IFDIR, 'directory'],
  [constants.S_IFLNK, 'link'],
]);
const METHODS = new Set([0, 8]);
const MAX_TARGET_BYTES = 4_096;
const LOCAL_HEADER_BYTES = 30;

export class ZipReader implements ArchiveReader {
  readonly #descriptor: number;
  readonly #bytes: number;
  readonly #budget: Budget;

  constructor(descriptor: number, bytes: number, budget: Budget) {
    this.#descriptor = descriptor;
    this.#bytes = bytes;
    this.#budget = budget;
  }

  async each(visit: (entry: ArchiveEntry) => ContentSink | undefined): Promise<void> {
    const count = this.#budget.counterOf(this.#bytes);
    const entries: Entry[] = [];
    try {
      const zip = await fromFdPromise(this.#descriptor, { decodeStrings: false, autoClose: false });
      for await (const entry of zip.eachEntry()) {
        this.#budget.countEntry();
        count(entry.uncompressedSize);
        entries.push(entry);
      }
      refuseOverlaps(entries);
      for (const [index, entry] of entries.entries()) {
        const sink = visit(await told(zip, entry, index));
        if (sink !== undefined) await pour(zip, entry, sink);
      }
    } catch (error) {
      if (error instanceof ArchiveRefusal || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
      throw new ArchiveRefusal(`it is damaged (${(error as Error).message})`);
    }
  }
}

async function told(zip: ZipFile, entry: Entry, index: number): Promise<ArchiveEntry> {
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
  const target = kind === 'link' ? await targetOf(zip, entry, name) : '';
  return { index, name, kind, bytes, mode: unixMode & 0o7777, target };
}

function nameOf(entry: Entry): string {
  const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
  return getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
}

async function targetOf(zip: ZipFile, entry: Entry, name: string): Promise<string> {
  if (entry.uncompressedSize > MAX_TARGET_BYTES) refuseEntry(name, `is a link of more than ${MAX_TARGET_BYTES} bytes`);
  const pieces: Uint8Array[] = [];
  await pour(zip, entry, { write: piece => void pieces.push(piece), end: () => undefined });
  return Buffer.concat(pieces).toString('utf8');
}

async function pour(zip: ZipFile, entry: Entry, sink: ContentSink): Promise<void> {
  let sum = 0;
  for await (const piece of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
    sum = crc32(piece, sum);
    sink.write(piece);
  }
  sink.end();
  if (sum !== entry.crc32) refuseEntry(nameOf(entry), 'is damaged');
}

/** Contents that share their packed bytes are the mark of a bomb. */
function refuseOverlaps(entries: readonly Entry[]): void {
  const byPlace = entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  let end = 0;
  for (const entry of byPlace) {
    if (entry.relativeOffsetOfLocalHeader < end) refuseEntry(nameOf(entry), 'overlaps another entry');
    end = entry.relativeOffsetOfLocalHeader + LOCAL_HEADER_BYTES + entry.compressedSize;
  }
}
