// Opens an archive with the reader for its kind, which is recognised by the first bytes of the file.
import { AR_MAGIC, dataOf } from './deb-file.ts';
import type { ArchiveReader } from './entry.ts';
import { PackedFile } from './packed-file.ts';
import { TarReader } from './tar-reader.ts';
import { ZipReader } from './zip-reader.ts';

/** The beginning of a zip with entries, and of one without. */
const ZIP_MAGIC = ['PK\x03\x04', 'PK\x05\x06'];

export interface OpenArchive {
  readonly reader: ArchiveReader;
  /** Whether `/` means the root of the archive instead of the root of the machine. */
  readonly isRooted: boolean;
}

/** `descriptor` is an open file of `bytes` bytes, and stays open. */
export async function openArchive(descriptor: number, bytes: number): Promise<OpenArchive> {
  const file = new PackedFile(descriptor, 0, bytes);
  const head = (await file.at(0, AR_MAGIC.length)).toString('latin1');
  if (ZIP_MAGIC.some(magic => head.startsWith(magic)))
    return { reader: new ZipReader(descriptor, bytes), isRooted: false };
  if (head === AR_MAGIC) return { reader: new TarReader(await dataOf(file)), isRooted: true };
  return { reader: new TarReader(file), isRooted: false };
}
