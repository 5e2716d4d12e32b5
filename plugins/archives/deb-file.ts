// Finds the data part of a Debian package, which is an ar archive of a version, a control part and a data part.
import type { PackedFile } from './packed-file.ts';
import { ArchiveRefusal } from './refusal.ts';

export const AR_MAGIC = '!<arch>\n';
const HEADER_BYTES = 60;
const HEADER_END = '`\n';
/** The version, the control part, the data part; some tools add signatures. */
const MAX_MEMBERS = 10;
const VERSION_BYTES = 4;

/** The part that holds the tar archive of the files to install. */
export async function dataOf(deb: PackedFile): Promise<PackedFile> {
  let place = AR_MAGIC.length;
  for (let index = 0; index < MAX_MEMBERS && place < deb.bytes; index += 1) {
    const { name, bytes } = await memberAt(deb, place);
    const content = deb.part(place + HEADER_BYTES, bytes);
    if (index === 0) await checkVersion(name, content);
    else if (name.startsWith('data.tar')) return content;
    // Members begin at even places.
    place += HEADER_BYTES + bytes + (bytes % 2);
  }
  throw new ArchiveRefusal('it is a package without a part data.tar');
}

async function memberAt(deb: PackedFile, place: number): Promise<{ name: string; bytes: number }> {
  const header = (await deb.at(place, HEADER_BYTES)).toString('latin1');
  const size = header.slice(48, 58).trim();
  if (header.length < HEADER_BYTES || !header.endsWith(HEADER_END) || !/^\d{1,10}$/.test(size))
    throw new ArchiveRefusal('it is a damaged package');
  const bytes = Number(size);
  if (place + HEADER_BYTES + bytes > deb.bytes) throw new ArchiveRefusal('it is a package that ends too early');
  // Some tools end names with a slash.
  return { name: header.slice(0, 16).trim().replace(/\/$/, ''), bytes };
}

async function checkVersion(name: string, content: PackedFile): Promise<void> {
  const version = (await content.at(0, VERSION_BYTES)).toString('latin1');
  if (name !== 'debian-binary' || !version.startsWith('2.'))
    throw new ArchiveRefusal('it is no Debian package of version 2');
}
