// A disk that others fill during the unpacking: the error says that there is no room, and nothing is left behind.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { NoRoom } from '../../../plugins/archives/refusal.ts';
import { unpackHere } from '../../../plugins/archives/unpack-here.ts';
import { tar } from '../../support/archive-bytes.ts';
import { testDir } from '../../support/directory.ts';

const MIB = 2 ** 20;

t.test('a disk that becomes full during the unpacking is reported as full', async t => {
  const dir = testDir(t, {});
  const disk = path.join(dir, 'disk');
  await mkdir(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=80m', 'none', disk]);
  // In this process the unwritten file stays open, where the worker of a host would have ended.
  t.teardown(() => execFileSync('umount', ['--lazy', disk]));
  const into = path.join(disk, 'into');
  await mkdir(into);
  const others = path.join(disk, 'others');
  const fill = (): void => {
    // Writes until the disk is full.
    t.throws(() => writeFileSync(others, Buffer.alloc(80 * MIB)), { code: 'ENOSPC' });
  };
  const file = path.join(dir, 'archive.tar');
  await writeFile(file, tar([{ name: 'large', content: Buffer.alloc(8 * MIB, 'x') }]));
  const archive = await open(file);
  const before = process.cwd();
  process.chdir(into);
  try {
    const limits = { maxBytes: 2 ** 30, maxEntries: 10 };
    const rest = { archives: 1, areLayers: false, take: [{ from: '', to: '' }], withoutTop: false, user: null };
    const unpack = (onProgress: () => void) => unpackHere({ ...rest, ...limits }, [archive.fd], onProgress);
    await t.rejects(unpack(fill), new NoRoom('it became full meanwhile'));
    t.strictSame(await readdir(into), []);
    await rm(others);
    t.match(await unpack(() => undefined), { files: 1 }, 'and there is room again');
  } finally {
    process.chdir(before);
    await archive.close();
  }
});
