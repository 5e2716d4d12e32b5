// Random archives of names and links that lead up, down and through each other: whatever is unpacked stays in its folder,
// and whatever is refused leaves nothing.
import { mkdir, open, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { unpackHere } from '../../../plugins/archives/unpack-here.ts';
import { type TarMember, tar } from '../../support/archive-bytes.ts';
import { testDir } from '../../support/directory.ts';
import { rounds } from '../../support/rounds.ts';

const way = fc
  .array(fc.constantFrom('a', 'b', 'c', 'A', '..', '.'), { minLength: 1, maxLength: 5 })
  .map(parts => parts.join('/'));
const inside = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }).map(parts => parts.join('/'));
const member: fc.Arbitrary<TarMember> = fc.oneof(
  fc.record({ name: inside, content: fc.constant('x') }),
  fc.record({ name: inside, type: fc.constant('5') }),
  fc.record({ name: inside, type: fc.constant('2'), target: way }),
  fc.record({ name: inside, type: fc.constant('2'), target: way }),
  fc.record({ name: inside, type: fc.constant('1'), target: inside }),
  fc.record({ name: way, content: fc.constant('x') }),
);
const layer = fc.array(member, { minLength: 1, maxLength: 5 });
const taking = fc.record({ from: inside, to: fc.constantFrom('', 'a', 'x/y') });

t.test('nothing leaves the folder', async t => {
  const dir = await realpath(testDir(t));
  const start = process.cwd();
  t.teardown(() => process.chdir(start));
  let count = 0;
  let unpacked = 0;
  const run = async (
    layers: readonly TarMember[][],
    take: readonly { from: string; to: string }[],
    areLayers: boolean,
  ) => {
    count += 1;
    const into = path.join(dir, `${count}/into`);
    await mkdir(into, { recursive: true });
    const handles = await Promise.all(
      (areLayers ? layers : layers.slice(0, 1)).map(async (members, index) => {
        const file = `${into}-${index}`;
        await writeFile(file, tar(members));
        return open(file);
      }),
    );
    process.chdir(into);
    const task = {
      archives: handles.length,
      areLayers,
      take,
      withoutTop: false,
      maxBytes: 1e6,
      maxEntries: 50,
      user: null,
    };
    const failure = await unpackHere(
      task,
      handles.map(({ fd }) => fd),
      () => undefined,
    ).then(
      () => undefined,
      (error: Error) => error,
    );
    process.chdir(start);
    await Promise.all(handles.map(handle => handle.close()));
    const names = await readdir(into, { recursive: true });
    if (failure !== undefined) {
      if (failure.constructor.name !== 'ArchiveRefusal') throw failure;
      if (names.length > 0) throw new Error(`${names.join(', ')} is left after: ${failure.message}`);
    } else unpacked += 1;
    for (const name of names) {
      const real = await realpath(path.join(into, name)).catch(() => into);
      if (real !== into && !real.startsWith(`${into}/`)) throw new Error(`${name} leads to ${real}`);
    }
    if ((await readdir(path.dirname(into))).length !== handles.length + 1) throw new Error('something lies beside it');
    await rm(path.dirname(into), { recursive: true });
  };
  const everything = [{ from: '', to: '' }];
  const wishes = fc.oneof(fc.constant(everything), fc.uniqueArray(taking, { minLength: 1, maxLength: 2 }));
  const law = fc.asyncProperty(fc.array(layer, { minLength: 1, maxLength: 3 }), wishes, fc.boolean(), run);
  await fc.assert(law, { numRuns: rounds(400) });
  t.ok(unpacked > count / 10, `${unpacked} of ${count} were unpacked`);
});
