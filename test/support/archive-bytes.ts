// Archives built byte by byte, with anything that a publisher could put into them, malice included.
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

export interface TarMember {
  readonly name: string | Buffer;
  /**
   * Type flag of the header: `0` a file, `1` a hard link, `2` a symbolic link, `5` a directory and so on. Default: `0`.
   */
  readonly type?: string;
  readonly content?: string | Buffer;
  readonly mode?: number;
  readonly target?: string | Buffer;
  /** A size for the header that differs from the size of the content. */
  readonly size?: number;
  /** A checksum for the header that differs from the right one. */
  readonly sum?: number;
}

const BLOCK = 512;

/** An archive of the members in this order, with its end. */
export function tar(members: readonly TarMember[], end = Buffer.alloc(2 * BLOCK)): Buffer {
  return Buffer.concat([...members.flatMap(tarMember), end]);
}

export function tarMember(member: TarMember): Buffer[] {
  const { name, type = '0', content = '', mode = 0o644, target = '' } = member;
  const body = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  Buffer.from(name).copy(header, 0, 0, 100);
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  header.write('0000000\x000000000\0', 108);
  header.write(`${(member.size ?? body.length).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  Buffer.from(target).copy(header, 157, 0, 100);
  header.write('ustar\x0000', 257);
  const sum = member.sum ?? header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)];
}

/** An extended header for the member after it; with the type `g`, for all members after it. */
export function pax(records: Readonly<Record<string, string>>, type: 'x' | 'g' = 'x'): TarMember {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`);
    let length = rest + 1;
    while (rest + String(length).length > length) length += 1;
    return `${length} ${key}=${value}\n`;
  });
  return { name: 'PaxHeader', type, content: lines.join('') };
}

export interface ZipMember {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Type and permissions of Unix; 0 for an archive from another system. */
  readonly mode?: number;
  /** A size that differs from the true one. */
  readonly size?: number;
  readonly crc?: number;
  /** The compression method; 0 leaves the content uncompressed. */
  readonly method?: number;
  readonly flags?: number;
  /** Index of a member whose compressed bytes this member refers to. */
  readonly sharedWith?: number;
}

const UTF8_NAMES = 0x800;
const STORED = 0;
const DEFLATED = 8;
/** Marks a number whose value is in a 64-bit field elsewhere. */
const ELSEWHERE = 0xffffffff;

export function zip(members: readonly ZipMember[], { isZip64 = false } = {}): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  const places: number[] = [];
  let place = 0;
  for (const [index, member] of members.entries()) {
    const name = Buffer.from(member.name);
    const content = Buffer.from(member.content ?? '');
    const packed = member.method === STORED ? content : deflateRawSync(content);
    const size = member.size ?? content.length;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(member.flags ?? UTF8_NAMES, 2);
    common.writeUInt16LE(member.method ?? DEFLATED, 4);
    common.writeUInt32LE(member.crc ?? crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(name.length, 22);
    const isOwn = member.sharedWith === undefined;
    places[index] = isOwn ? place : (places[member.sharedWith] ?? 0);
    if (isOwn) {
      const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, packed]);
      locals.push(local);
      place += local.length;
    }
    const mode = member.mode ?? 0o100644;
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(places[index] ?? 0, 10);
    const large = isZip64 ? [zip64Field([size, packed.length, places[index] ?? 0])] : [];
    for (const { length } of large) {
      common.writeUInt32LE(ELSEWHERE, 14);
      common.writeUInt32LE(ELSEWHERE, 18);
      common.writeUInt16LE(length, 24);
      tail.writeUInt32LE(ELSEWHERE, 10);
    }
    const system = Buffer.from([20, mode === 0 ? 0 : 3]);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02'), system, common, tail, name, ...large]));
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(isZip64 ? 0xffff : members.length, 8);
  end.writeUInt16LE(isZip64 ? 0xffff : members.length, 10);
  end.writeUInt32LE(isZip64 ? ELSEWHERE : directory.length, 12);
  end.writeUInt32LE(isZip64 ? ELSEWHERE : place, 16);
  const ends = isZip64 ? [zip64End(members.length, directory.length, place), end] : [end];
  return Buffer.concat([...locals, directory, ...ends]);
}

/** The extra field of an entry with 64-bit numbers. */
function zip64Field(numbers: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * numbers.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * numbers.length, 2);
  for (const [index, number] of numbers.entries()) field.writeBigUInt64LE(BigInt(number), 4 + 8 * index);
  return field;
}

/** The Zip64 end of the central directory, and its locator. */
function zip64End(count: number, directoryBytes: number, directoryPlace: number): Buffer {
  const end = Buffer.alloc(56);
  end.write('PK\x06\x06');
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(45, 12);
  end.writeUInt16LE(45, 14);
  for (const [at, number] of [
    [24, count],
    [32, count],
    [40, directoryBytes],
    [48, directoryPlace],
  ] as const)
    end.writeBigUInt64LE(BigInt(number), at);
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07');
  locator.writeBigUInt64LE(BigInt(directoryPlace + directoryBytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end, locator]);
}

/** An ar archive, such as a Debian package, with these parts by name. */
export function ar(parts: Readonly<Record<string, Buffer | string>>): Buffer {
  const members = Object.entries(parts).flatMap(([name, part]) => {
    const content = Buffer.from(part);
    const header = `${name.padEnd(16)}${'0'.padEnd(12)}${'0'.padEnd(6)}${'0'.padEnd(6)}${'100644'.padEnd(8)}`;
    return [
      Buffer.from(`${header}${String(content.length).padEnd(10)}\`\n`),
      content,
      Buffer.alloc(content.length % 2),
    ];
  });
  return Buffer.concat([Buffer.from('!<arch>\n'), ...members]);
}

export function deb(data: Buffer): Buffer {
  const control = gzipSync(tar([{ name: './control', content: 'Package: any\n' }]));
  return ar({ 'debian-binary': '2.0\n', 'control.tar.gz': control, 'data.tar.gz': gzipSync(data) });
}
