// Random archives: whatever names and links they have, all that is unpacked stays in its folder. Randomly damaged
// archives are either refused or unpacked.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { deb, pax, type TarMember, tar, zip } from '../../support/archive-bytes.ts';
import { testDir } from '../../support/directory.ts';
import { rounds } from '../../support/rounds.ts';
import { attemptToUnpack, type UnpackAttempt } from '../../support/unpack-attempt.ts';

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

const wishes = fc.oneof(fc.constant([{ from: '', to: '' }]), fc.uniqueArray(taking, { minLength: 1, maxLength: 2 }));

const MEMBERS: readonly TarMember[] = [
  { name: 'd/', type: '5' },
  pax({ path: 'd/long-name', size: '5' }),
  { name: 'x', content: 'hello' },
  { name: 'd/b', content: 'program', mode: 0o755 },
  { name: 'link', type: '2', target: 'd/b' },
  { name: 'hard', type: '1', target: 'd/b' },
  { name: 'L', type: 'L', content: `${'a/'.repeat(60)}f\0` },
  { name: 'f', content: 'z'.repeat(700) },
];
const ZIP = zip([
  { name: 'd/', mode: 0o040755 },
  { name: 'd/a', content: 'hello' },
  { name: 'link', content: 'd/a', mode: 0o120777 },
  { name: 'b', content: 'y'.repeat(900), mode: 0o100755 },
]);
const INTACT = [tar(MEMBERS), ZIP, deb(tar(MEMBERS)), gzipSync(tar(MEMBERS))];
const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), {
  minLength: 1,
  maxLength: 4,
});

/** Throws when an entry is where it must not be. */
async function check({ into, refusal, names, beside }: UnpackAttempt): Promise<void> {
  if (beside.length > 0) throw new Error(`${beside.join(', ')} lies beside the folder`);
  if (refusal !== undefined && names.length > 0)
    throw new Error(`${names.join(', ')} is left after: ${refusal.message}`);
  for (const name of names) {
    const real = await realpath(path.join(into, name)).catch(() => into);
    if (real !== into && !real.startsWith(`${into}/`)) throw new Error(`${name} leads to ${real}`);
  }
}

t.test('nothing is unpacked outside of the folder', async t => {
  const dir = await realpath(testDir(t));
  let count = 0;
  let unpacked = 0;
  const law = fc.asyncProperty(
    fc.array(layer, { minLength: 1, maxLength: 3 }),
    wishes,
    fc.boolean(),
    async ([first = [], ...others], take, areLayers) => {
      const archive = areLayers ? [first, ...others].map(members => tar(members)) : tar(first);
      const attempt = await attemptToUnpack(dir, archive, { take });
      count += 1;
      if (attempt.refusal === undefined) unpacked += 1;
      await check(attempt);
    },
  );
  await fc.assert(law, { numRuns: rounds(400) });
  t.ok(unpacked > count / 10, `${unpacked} of ${count} were unpacked`);
});

t.test('a damaged archive is refused or unpacked', async t => {
  const dir = await realpath(testDir(t));
  const law = fc.asyncProperty(fc.constantFrom(...INTACT), damage, async (intact, places) => {
    const bytes = Buffer.from(intact);
    for (const [place, byte] of places) bytes[Math.floor(place * (bytes.length - 1))] = byte;
    await check(await attemptToUnpack(dir, bytes));
  });
  await fc.assert(law, { numRuns: rounds(200) });
  for (const intact of INTACT) t.equal((await attemptToUnpack(dir, intact)).refusal, undefined);
});
