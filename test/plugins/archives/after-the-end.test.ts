// What follows the end of a tar archive is only decompressed: it is no part of the archive, and costs next to nothing.
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { Budget } from '../../../plugins/archives/budget.ts';
import { PackedFile } from '../../../plugins/archives/packed-file.ts';
import { TarReader } from '../../../plugins/archives/tar-reader.ts';
import { tar } from '../../support/archive-bytes.ts';
import { testDir } from '../../support/directory.ts';

const REST_BYTES = 60 * 2 ** 20;
/** Far more than is needed, and a third of the time when each piece of the rest was copied. */
const MAX_CPU_US = 2_000_000;

t.test('a long rest after the end of an archive is skipped cheaply', async t => {
  const one = tar([{ name: 'program', content: 'x' }]);
  const file = path.join(testDir(t, {}), 'a.tar.gz');
  const names = async (packed: Buffer): Promise<string[]> => {
    await writeFile(file, packed);
    const handle = await open(file);
    const found: string[] = [];
    const reader = new TarReader(new PackedFile(handle.fd, 0, packed.length));
    const reading = reader.each(new Budget({ maxBytes: 2 ** 30, maxEntries: 10 }), ({ name }) => {
      found.push(name);
      return undefined;
    });
    await reading.finally(() => handle.close());
    return found;
  };
  const packed = gzipSync(Buffer.concat([one, Buffer.alloc(REST_BYTES)]));
  const before = process.cpuUsage();
  t.same(await names(packed), ['program']);
  const { user, system } = process.cpuUsage(before);
  t.ok(user + system < MAX_CPU_US, `${user + system} µs`);
  await t.rejects(names(packed.subarray(0, -4)), { message: /damaged/ }, 'it must be whole all the same');
  t.same(await names(gzipSync(Buffer.concat([one, tar([{ name: 'other' }])]))), ['program']);
});
