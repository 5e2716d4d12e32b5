// Archives of every kind, unpacked by a build: files belong to the wanted user, only the wanted part is taken, layers
// are combined, a disk without room is reported, and unpacking can be cancelled.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { deb, pax, type TarMember, tar, tarMember, zip } from '../../support/archive-bytes.ts';
import { programOf } from '../../support/debian.ts';
import { startUnpacker } from '../../support/unpacking.ts';
import { until } from '../../support/until.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };
const LONG = 'a-directory-with-a-long-name/'.repeat(6);

/**
 * All entries of a directory by path: contents of files, with `*` when anybody may run them, and `->` with the target
 * of links.
 */
async function shown(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory, { recursive: true })).sort();
  const entries = names.map(async name => {
    const place = path.join(directory, name);
    const entry = await lstat(place);
    if (entry.isSymbolicLink()) return [[name, `-> ${await readlink(place)}`]];
    if (entry.isDirectory()) return (await readdir(place)).length === 0 ? [[`${name}/`, '']] : [];
    return [[name, `${await readFile(place, 'utf8')}${(entry.mode & 0o111) === 0 ? '' : '*'}`]];
  });
  return Object.fromEntries((await Promise.all(entries)).flat());
}

const RELEASE: readonly TarMember[] = [
  { name: 'app-1.0/', type: '5', mode: 0o755 },
  { name: './app-1.0/bin/app', content: 'program', mode: 0o775 },
  { name: 'app-1.0/bin/again', type: '1', target: 'app-1.0/bin/app' },
  { name: 'app-1.0/current', type: '2', target: 'bin/app' },
  { name: 'app-1.0/empty', type: '5', mode: 0o2775 },
  pax({ path: `app-1.0/${LONG}ü` }),
  { name: 'short', content: 'text', mode: 0o600 },
];
const UNPACKED = {
  'bin/again': 'program*',
  'bin/app': 'program*',
  current: '-> bin/app',
  'empty/': '',
  [`${LONG}ü`]: 'text',
};

t.test('archives are unpacked', async t => {
  await programOf(['xz'], ['xz-utils']);
  await programOf(['zstd'], ['zstd']);
  const { dir, unpack } = await startUnpacker(t);

  t.test("every kind gives the same files, which are their user's", async t => {
    const plain = tar(RELEASE);
    const packed = (program: string): Buffer => execFileSync(program, ['-c'], { input: plain });
    const zipped = zip([
      { name: 'app-1.0/', mode: 0o040755 },
      { name: 'app-1.0/bin/app', content: 'program', mode: 0o100775 },
      { name: 'app-1.0/bin/again', content: 'program', mode: 0o100775 },
      { name: 'app-1.0/current', content: 'bin/app', mode: 0o120777 },
      { name: 'app-1.0/empty/', mode: 0 },
      { name: `app-1.0/${LONG}ü`, content: 'text', mode: 0 },
    ]);
    const all = {
      tar: plain,
      gzip: gzipSync(plain),
      xz: packed('xz'),
      zstd: packed('zstd'),
      zip: zipped,
      deb: deb(plain),
    };
    for (const [kind, archive] of Object.entries(all)) {
      const { status, files, bytes, into } = await unpack(archive, { user: NOBODY, withoutTop: true });
      t.strictSame({ status, files, bytes }, { status: 200, files: 3, bytes: 18 }, kind);
      t.strictSame(await shown(into), UNPACKED, kind);
      const { uid, gid, mode } = await stat(path.join(into, LONG, 'ü'));
      t.strictSame({ uid, gid, mode }, { ...NOBODY, mode: 0o100644 }, kind);
      t.equal(
        (await stat(path.join(into, 'bin/again'))).nlink,
        1,
        'copies, so that a change of one is none of the other',
      );
    }
  });

  t.test('the wanted part of a package is unpacked, and links keep their meaning', async t => {
    const data = tar([
      { name: './opt/app/bin/app', content: 'program', mode: 0o755 },
      { name: './opt/app/run', type: '2', target: '/opt/app/bin/app' },
      { name: './opt/app/lib', type: '2', target: '../../usr/lib/libapp.so.2' },
      { name: './usr/lib/libapp.so.2', content: 'library' },
      { name: './usr/lib/libapp.so.20', content: 'another' },
      { name: './usr/lib/other.so.2', content: 'other' },
      { name: './usr/bin/su', content: 'not wanted', mode: 0o4755 },
      { name: './dev/null', type: '3' },
    ]);
    const take = [
      { from: 'opt/app', to: '' },
      { from: '/usr/lib/lib*.so.2*', to: 'libraries/' },
      { from: 'not/there', to: 'x' },
    ];
    const { status, into } = await unpack(deb(data), { take });
    t.equal(status, 200);
    t.strictSame(await shown(into), {
      'bin/app': 'program*',
      lib: '-> libraries/libapp.so.2',
      'libraries/libapp.so.2': 'library',
      'libraries/libapp.so.20': 'another',
      run: '-> bin/app',
    });
    const alone = await unpack(deb(data), { take: [{ from: 'opt/app', to: '' }] });
    t.match(alone, { status: 502, detail: /"opt\/app\/lib" is a link to .*, which is not taken/ });
    t.strictSame(await shown(alone.into), {});
  });

  t.test('layers are combined in order', async t => {
    const base = tar([
      { name: 'app/old', content: 'old' },
      { name: 'app/kept', content: 'kept', mode: 0o755 },
      { name: 'app/cache/a', content: 'a' },
      { name: 'app/cache/b', content: 'b' },
      { name: 'app/turns', content: 'into a directory' },
      { name: 'app/link', type: '2', target: '/etc/passwd' },
      { name: 'etc/passwd', content: 'root' },
    ]);
    const middle = tar([
      { name: 'app/cache/c', content: 'c' },
      { name: 'app/cache/.wh..wh..opq' },
      { name: 'app/same', type: '1', target: 'app/kept' },
      { name: 'app/.wh.old' },
      { name: 'app/.wh.link' },
      { name: 'app/turns/inside', content: 'in it' },
    ]);
    const top = tar([
      { name: 'app/kept', content: 'newer' },
      { name: 'app/cache/', type: '5', mode: 0o755 },
      { name: 'app/entry', type: '2', target: '/app/cache/c' },
    ]);
    const layers = [gzipSync(base), middle, gzipSync(top)];
    const { status, into } = await unpack(layers, { take: [{ from: 'app/', to: 'runtime/' }], user: NOBODY });
    t.equal(status, 200);
    t.strictSame(await shown(into), {
      'runtime/cache/c': 'c',
      'runtime/entry': '-> cache/c',
      'runtime/kept': 'newer',
      'runtime/same': 'kept*',
      'runtime/turns/inside': 'in it',
    });
  });

  t.test('a Zip64 archive with thousands of files, large and uncompressed ones, is unpacked', async t => {
    const contents = new Map([
      ['empty', ''],
      ['stored-empty', ''],
      ['large', randomBytes(1_500_000).toString('hex')],
      ['stored-large', randomBytes(1_500_000).toString('hex')],
      ['at-the-limit', 'x'.repeat(512 * 1024)],
      ...Array.from({ length: 3_000 }, (_, index) => [`small/${index}`, `text ${index}`.repeat(index % 50)] as const),
      ['stored-small', 'as it is'],
    ]);
    const members = [...contents].map(([name, content]) => {
      return { name, content, ...(name.startsWith('stored') ? { method: 0 } : {}) };
    });
    for (const isZip64 of [false, true]) {
      const { status, files, into } = await unpack(zip(members, { isZip64 }));
      t.strictSame({ status, files }, { status: 200, files: contents.size });
      t.strictSame(await shown(into), Object.fromEntries(contents), `64 bits: ${isZip64}`);
    }
  });

  t.test('xz unpacks once where the disk has room for a copy, and twice where it has not', async t => {
    const own = path.join(dir, 'own-xz');
    const count = path.join(dir, 'count');
    await mkdir(own);
    const real = await programOf(['xz'], ['xz-utils']);
    await writeFile(path.join(own, 'xz'), `#!/bin/sh\necho >>${count}\nexec ${real} "$@"\n`, { mode: 0o755 });
    const { PATH } = process.env;
    t.teardown(() => Object.assign(process.env, { PATH }));
    process.env.PATH = `${own}:${PATH}`;
    // Equal short parts, which xz compresses and decompresses in a moment.
    const content = randomBytes(500).toString('hex').repeat(30_000);
    const archive = execFileSync(real, ['-0c'], { input: tar([{ name: 'large', content }]), maxBuffer: 2 ** 26 });
    const narrow = path.join(dir, 'narrow');
    await mkdir(narrow);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=110m', 'none', narrow]);
    t.teardown(() => execFileSync('umount', [narrow]));
    for (const [place, times] of [
      [{}, 1],
      [{ into: narrow }, 2],
    ] as const) {
      await rm(count, { force: true });
      const { status, into } = await unpack(archive, place);
      t.equal(status, 200);
      t.equal((await readFile(count, 'utf8')).length, times);
      t.strictSame(await readdir(into), ['large']);
      t.ok((await readFile(path.join(into, 'large'), 'utf8')) === content);
    }
  });

  t.test('a disk without room is reported before anything is written', async t => {
    const small = path.join(dir, 'small');
    await mkdir(small);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=70m', 'none', small]);
    t.teardown(() => execFileSync('umount', [small]));
    const content = Buffer.alloc(20 * 1024 * 1024, 'x');
    const { status, detail } = await unpack(tar([{ name: 'large', content }]), { into: small });
    t.equal(status, 507);
    t.match(detail, /small has no room: 70 MiB are free where 85 MiB are needed; free some/);
    t.strictSame(await readdir(small), []);
    await writeFile(path.join(small, 'there'), '');
    t.match(await unpack(tar([]), { into: small }), { status: 500, detail: /small is not empty/ });
  });

  t.test('unpacking reports its progress, and ends when it is cancelled', async t => {
    const file = path.join(dir, 'large.tar');
    const size = 2 ** 29;
    const handle = await open(file, 'w');
    await handle.write(Buffer.concat(tarMember({ name: 'large', size })));
    await handle.truncate(size + 3 * 512);
    await handle.close();
    const { status, detail, into } = await unpack(file, { isCancelled: true });
    t.match({ status, detail }, { status: 500, detail: 'it was cancelled' });
    const left = await stat(path.join(into, 'large'));
    t.ok(left.size < size, 'it was in the middle');
    t.equal((await stat(path.join(into, 'large'))).size, left.size, 'and writes no more');
    await rm(into, { recursive: true });

    const unpacked = unpack(file);
    const children = () =>
      execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
    const pid = await until(() => /^ *(\d+) .*unpack-worker/m.exec(children())?.[1], { what: 'its program' });
    process.kill(Number(pid), 'SIGKILL');
    const killed = await unpacked;
    t.match(
      killed,
      { status: 500, detail: 'unpacking ended with SIGKILL' },
      'it does not wait for one that was killed',
    );
    t.equal((await unpack(tar(RELEASE), { withoutTop: true })).status, 200, 'and the next one is whole');
    await rm(killed.into, { recursive: true });
    await rm(file);
  });
});
