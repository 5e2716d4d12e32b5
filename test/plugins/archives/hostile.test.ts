// Malicious and broken archives: each is refused with a sentence that says what is wrong, and leaves nothing behind.
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { ar, deb, pax, type TarMember, tar, type ZipMember, zip } from '../../support/archive-bytes.ts';
import { programOf } from '../../support/debian.ts';
import { testDir } from '../../support/directory.ts';
import { attemptToUnpack } from '../../support/unpack-attempt.ts';

const OUTSIDE = '/tmp/stackwarden-escape';
const good: TarMember = { name: 'program', content: 'x', mode: 0o755 };
const link = (name: string, target: string | Buffer): TarMember => ({ name, type: '2', target });
const hardlink = (name: string, target: string): TarMember => ({ name, type: '1', target });
const directory = (name: string): TarMember => ({ name, type: '5', mode: 0o755 });
const file = (name: string | Buffer, more: Partial<TarMember> = {}): TarMember => ({ name, content: 'x', ...more });
const tars = (...members: readonly TarMember[]): Buffer => tar([good, ...members]);
const zips = (...members: readonly ZipMember[]): Buffer => zip([{ name: 'program', content: 'x' }, ...members]);
const zipLink = (name: string, target: string): ZipMember => ({ name, content: target, mode: 0o120777 });
const deep = (depth: number): string => Array.from({ length: depth }, () => 'd').join('/');
const withByte = (archive: Buffer, at: number, byte: number): Buffer => {
  archive[at] = byte;
  return archive;
};
const large = randomBytes(2_000_000);
const zeros = Buffer.alloc(80 * 1024 * 1024);

/** What is wrong with the archive, the archive, and the expected sentence. */
const TABLE: readonly (readonly [string, Buffer | readonly Buffer[], RegExp])[] = [
  ['a name above the folder', tars(file('../evil')), /"\.\.\/evil" leads out of the folder/],
  ['a name that comes back', tars(file('a/../../evil')), /leads out/],
  ['a name that stays inside by its steps', tars(file('a/../b')), /leads out/],
  ['two dots alone', tars(directory('..')), /leads out/],
  ['an absolute name', tars(file(`${OUTSIDE}`)), /absolute path/],
  ['an absolute name with many slashes', tars(file(`//${OUTSIDE}`)), /absolute path/],
  ['a name above the folder in an extended header', tars(pax({ path: '../evil' }), file('fine')), /leads out/],
  [
    'an absolute name in a long name',
    tars({ name: 'L', type: 'L', content: `${OUTSIDE}\0` }, file('fine')),
    /absolute/,
  ],
  ['a name of Windows', tars(file('..\\..\\evil')), /backslash/],
  ['a line break in a name', tars(file('a\nb')), /control characters/],
  ['an escape in a name', tars(file('a\x1b[2Jb')), /control characters/],
  ['bytes that are no text', tars(file(Buffer.from([0x61, 0xff, 0xfe]))), /UTF-8/],
  ['a part that is too long', tars(pax({ path: `${'n'.repeat(256)}` }), file('fine')), /more than 255 bytes/],
  ['a path that is too long', tars(pax({ path: Array(20).fill('n'.repeat(60)).join('/') }), file('f')), /1024 bytes/],
  ['a path that is too deep', tars(pax({ path: deep(101) }), file('fine')), /deeper than 100/],

  ['a link to an absolute path', tars(link('l', '/etc/passwd')), /"l" is a link to an absolute path/],
  ['a link above the folder', tars(link('l', '../x')), /leads out/],
  ['a link that comes back and leaves', tars(link('a/b/l', '../../../x')), /leads out/],
  ['a link out through another', tars(directory('a/b'), link('a/b/up', '../..'), link('l', 'a/b/up/..')), /leads out/],
  ['a link out through two others', tars(link('a/x', '..'), link('b', 'a/x'), link('c', 'a/x/../..')), /leads out/],
  ['a link to itself', tars(link('l', 'l')), /too many others/],
  ['two links in a circle', tars(link('a', 'b/x'), link('b', 'a/x')), /too many others/],
  ['a link to nothing', tars(pax({ linkpath: '' }), link('l', '')), /damaged|linkpath/],
  ['a link of a line and more', tars(link('l', 'a\nb')), /"l" is a link whose target holds control/],
  ['a link in bytes that are no text', tars(link('l', Buffer.from([0x61, 0xff]))), /target is no text in UTF-8/],
  [
    'a link that is longer than links are',
    tars(pax({ linkpath: `${'./'.repeat(2_044)}program!` }), link('l', 'x')),
    /longer than 4095/,
  ],
  ['a file through a link', tars(link('l', 'program'), file('l/evil')), /under "l"/],
  ['a file through a link out', tars(link('l', '..'), file('l/evil')), /under "l"/],
  ['a file in the place of a link', tars(link('l', 'program'), file('l')), /twice/],
  ['a link in the place of a directory', tars(file('d/a'), link('d', '..')), /twice/],
  ['a hard link to an absolute path', tars(hardlink('h', '/etc/passwd')), /absolute path/],
  ['a hard link above the folder', tars(hardlink('h', '../../etc/passwd')), /leads out/],
  ['a hard link to a link', tars(link('l', 'program'), hardlink('h', 'l')), /no file before it/],
  ['a hard link to what is not there', tars(hardlink('h', 'missing')), /no file before it/],
  ['a hard link to a directory', tars(directory('d'), hardlink('h', 'd')), /no file before it/],

  ['a character device', tars({ name: 'null', type: '3' }), /device/],
  ['a block device', tars({ name: 'sda', type: '4' }), /device/],
  ['a FIFO', tars({ name: 'fifo', type: '6' }), /device/],
  ['a sparse file', tars({ name: 'sparse', type: 'S' }), /of the kind/],
  [
    'a sparse file in an extended header',
    tars(
      pax({ 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0', 'GNU.sparse.realsize': '9' }),
      file('GNUSparseFile.0/f'),
    ),
    /"GNUSparseFile\.0\/f" is of the kind SparseFile/,
  ],
  [
    'a sparse file of the first form',
    tars(pax({ 'GNU.sparse.size': '9', 'GNU.sparse.numblocks': '0' }), file('f')),
    /"f" is of the kind SparseFile/,
  ],
  ['a part of a volume', tars({ name: 'rest', type: 'M' }), /of the kind/],
  ['a kind that nobody knows', tars({ name: 'odd', type: 'Z' }), /of the kind/],
  ['a program of its owner', tars(file('su', { mode: 0o4755 })), /rights of its owner/],
  ['a program of its group', tars(file('sg', { mode: 0o2755 })), /rights of its owner/],

  ['a name twice', tars(file('a'), file('a')), /twice/],
  ['a name twice by its spelling', tars(file('a/b'), file('./a//b')), /twice/],
  ['names that differ by case', tars(file('Readme'), file('README')), /where case does not count/],
  ['directories that differ by case', tars(file('Lib/a'), file('lib/b')), /where case does not count/],
  ['names that differ by normalisation', tars(file('\u00e9'), file('e\u0301')), /where case does not count/],
  ['names that differ by a sign of the same look', tars(file('\u212a'), file('k')), /where case does not count/],
  ['a file over a directory', tars(file('d/a'), file('d')), /twice/],
  ['a directory over a file', tars(file('d'), directory('d')), /twice/],
  ['a file under a file', tars(file('d'), file('d/a')), /under "d"/],
  ['a file as the folder itself', tars(file('.')), /folder itself/],

  ['zeros by gzip', gzipSync(tar([{ name: 'zeros', content: zeros }])), /200 times its size/],
  [
    'zeros by gzip, inside of what is skipped',
    gzipSync(tar([{ name: 'zeros', type: 'L', content: zeros }])),
    /kind|times/,
  ],
  [
    'more than is allowed',
    tar([{ name: 'large', content: Buffer.alloc(3 * 1024 * 1024, 'x') }]),
    /more than 2097152 bytes/,
  ],
  [
    'hard links that make more than is allowed',
    tar([file('large', { content: Buffer.alloc(1_500_000) }), hardlink('again', 'large')]),
    /more than 2097152 bytes/,
  ],
  [
    'more entries than are allowed',
    tar(Array.from({ length: 60 }, (_, index) => file(`f${index}`))),
    /more than 50 entries/,
  ],
  ['a long extended header', tar([pax({ comment: 'x'.repeat(2 * 1024 * 1024) }), good]), /kind|2097152/],
  ['a size that is told wrong', tar([file('a', { size: 5_000_000 })]), /damaged/],
  ['a sum that is wrong', tars(file('a', { sum: 1 })), /damaged/],
  ['an archive that is cut off', tars(file('a', { content: 'x'.repeat(5_000) })).subarray(0, 2_000), /damaged/],
  ['a gzip that is cut off', gzipSync(tars(file('a', { content: randomBytes(5_000) }))).subarray(0, 4_000), /damaged/],
  ['a length of more digits than a number has', withByte(tars(), 124, 0x80), /neither tar nor zip nor deb/],
  ['a gzip in a gzip', gzipSync(gzipSync(tars())), /neither tar nor zip nor deb/],
  ['an xz that is none', Buffer.from('\xfd7zXZ\0nonsense', 'latin1'), /damaged/],
  ['a zstd that is none', Buffer.from('\x28\xb5\x2f\xfdnonsense', 'latin1'), /damaged/],
  ['bzip2', Buffer.from('BZh9 and more'), /bzip2, which is not supported/],
  ['a page instead of an archive', Buffer.from(`<html>${'sorry '.repeat(200)}</html>`), /neither tar nor zip nor deb/],
  ['nothing', Buffer.alloc(0), /empty/],

  ['a zip with a name above the folder', zips({ name: '../evil' }), /leads out/],
  ['a zip with an absolute name', zips({ name: OUTSIDE }), /absolute path/],
  ['a zip with a name of Windows', zips({ name: '..\\evil', mode: 0 }), /backslash/],
  ['a zip with a drive of Windows and a step', zips({ name: 'c:\\..\\evil', mode: 0 }), /backslash/],
  ['a zip with bytes that are no text', zips({ name: Buffer.from([0x61, 0xff, 0xfe]) }), /UTF-8/],
  ['a zip with a link to an absolute path', zips(zipLink('l', '/etc/passwd')), /absolute path/],
  ['a zip with a link above the folder', zips(zipLink('l', '../../x')), /leads out/],
  ['a zip with a link that is too long', zips(zipLink('l', 'x'.repeat(5_000))), /more than 4096 bytes/],
  ['a zip with a link to nothing', zips(zipLink('l', '')), /"l" is a link to nothing/],
  ['a zip with a link that ends early', zips(zipLink('l', 'pro\0gram')), /target holds control characters/],
  ['a zip with a link one byte too long', zips(zipLink('l', `${'./'.repeat(2_044)}program!`)), /longer than 4095/],
  ['a zip with a file through a link', zips(zipLink('l', 'program'), { name: 'l/evil' }), /under "l"/],
  ['a zip with a device', zips({ name: 'null', mode: 0o020666 }), /device/],
  ['a zip with a FIFO', zips({ name: 'fifo', mode: 0o010666 }), /device/],
  ['a zip with a socket', zips({ name: 'socket', mode: 0o140666 }), /device/],
  ['a zip with a program of its owner', zips({ name: 'su', mode: 0o104755 }), /rights of its owner/],
  ['a zip with a name twice', zips({ name: 'program' }), /twice/],
  ['a zip with names that differ by case', zips({ name: 'PROGRAM' }), /where case does not count/],
  ['a zip with a file like a directory', zips({ name: 'd/', mode: 0o100644, content: 'x' }), /name of a directory/],
  ['a zip with zeros', zip([{ name: 'zeros', content: zeros }]), /200 times its size/],
  ['a zip that tells less than there is', zips({ name: 'liar', content: Buffer.alloc(100_000), size: 10 }), /damaged/],
  ['a zip that tells more than there is', zips({ name: 'liar', content: 'x', size: 100 }), /damaged/],
  ['a large zip that tells less than there is', zips({ name: 'liar', content: large, size: 1_000_000 }), /damaged/],
  ['a large zip that tells more than there is', zips({ name: 'liar', content: large, size: 3_000_000 }), /damaged/],
  ['a large zip with a wrong sum', zips({ name: 'a', content: large, crc: 1 }), /"a" is damaged/],
  ['a zip that tells of gigabytes', zip([{ name: 'liar', content: 'x', size: 3e9 }]), /times its size|more than/],
  ['a zip of 64 bits that is cut off', zip([{ name: 'a' }], { isZip64: true }).subarray(0, -30), /damaged/],
  ['a zip whose members share bytes', zips({ name: 'again', content: 'x', sharedWith: 0 }), /overlaps/],
  ['a zip with a wrong sum', zips({ name: 'a', content: 'x', crc: 1 }), /"a" is damaged/],
  ['a zip that is encrypted', zips({ name: 'a', content: 'x', flags: 0x801 }), /encrypted/],
  ['a zip by a method of its own', zips({ name: 'a', content: 'x', method: 99 }), /method 99/],
  ['a zip that is cut off', zips({ name: 'a', content: 'x' }).subarray(0, -10), /damaged/],

  ['a package without data', ar({ 'debian-binary': '2.0\n' }), /without a part data/],
  ['a package of another version', ar({ 'debian-binary': '1.0\n', 'data.tar': tars() }), /version 2/],
  ['a package that ends too early', deb(tars()).subarray(0, -200), /too early|damaged/],
  ['a package with a damaged header', Buffer.from(`!<arch>\n${'x'.repeat(200)}`), /damaged package/],
  ['a package with a name above its root', deb(tars(file('../evil'))), /leads out/],
  ['a package with a program of its owner', deb(tars(file('usr/bin/su', { mode: 0o4755 }))), /rights of its owner/],
  ['a package with a device', deb(tars({ name: 'dev/null', type: '3' })), /device/],

  ['a layer with a name above the root', [tars(), tars(file('../evil'))], /leads out/],
  ['a layer with a file through its own link', [tar([link('app', '/etc'), file('app/passwd')])], /under "app"/],
  ['a layer with a hard link out', [tars(hardlink('h', '../../etc/passwd'))], /leads out/],
];

t.test('a hostile archive is refused with a sentence, and nothing is written', async t => {
  await programOf(['xz'], ['xz-utils']);
  await programOf(['zstd'], ['zstd']);
  const dir = testDir(t);
  t.ok(TABLE.length >= 60);
  for (const [what, archive, sentence] of TABLE) {
    const { refusal, names, beside } = await attemptToUnpack(dir, archive, { maxBytes: maxBytesFor(what) });
    t.match(refusal?.message, sentence, what);
    t.strictSame([...names, ...beside], [], what);
  }
  await t.rejects(access(OUTSIDE), 'nothing outside');
});

t.test('a missing decompressor is named with its package', async t => {
  const dir = testDir(t);
  const { PATH } = process.env;
  t.teardown(() => Object.assign(process.env, { PATH }));
  process.env.PATH = '/nonexistent';
  for (const [program, from, begin] of [
    ['xz', 'xz-utils', '\xfd7zXZ\0'],
    ['zstd', 'zstd', '\x28\xb5\x2f\xfd'],
  ] as const) {
    const message = `it is packed by ${program}, which is not installed; install the package ${from}`;
    await t.rejects(attemptToUnpack(dir, Buffer.from(`${begin} and more`, 'latin1')), { message });
  }
});

function maxBytesFor(what: string): number {
  return (what.includes('allowed') ? 2 : 1_024) * 1024 * 1024;
}
