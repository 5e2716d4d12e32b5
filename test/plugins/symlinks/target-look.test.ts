// Results for many targets are those of a separate check of each, in whatever order they are checked.
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { diskPath, joined, type RawPath, rawOf } from '../../../plugins/symlinks/places/raw-path.ts';
import { Pulse, pulseMemory } from '../../../plugins/symlinks/tasks/pulse.ts';
import { TargetLook } from '../../../plugins/symlinks/walk/target-look.ts';
import { rounds } from '../../support/rounds.ts';

/** Raw names: each is a file, a directory, a link that resolves, one that does not, or nothing. */
const NAMES = ['a', 'a b', 'B', 'ab', '\xff', 'caf\xc3\xa9', 'z.mkv', '0', 'n\nl', 'x'.repeat(255)];
const KINDS = ['file', 'file', 'file', 'directory', 'link', 'broken', 'nothing'] as const;
const DIRECTORIES = ['one', 'two', 'one/a', 'none'];
const TAILS = ['', '.', '..', './a', 'a/', 'a/../B', '../two/a', 'a/ab', 'B/x', 'x'.repeat(256)];

function isThere(place: RawPath): boolean {
  try {
    return statSync(diskPath(place), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

t.test('targets in any order have the right result', async t => {
  const dir = t.testdir();
  const numRuns = rounds(60);
  let made = 0;
  const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...NAMES) }, fc.constantFrom(...TAILS));
  const names = fc.array(name, { minLength: 1, maxLength: 10 });
  const question = fc.record({ directory: fc.constantFrom(...DIRECTORIES), names, isRelative: fc.boolean() });
  const content = fc.array(fc.constantFrom(...KINDS), { minLength: NAMES.length, maxLength: NAMES.length });
  const questions = fc.array(question, { minLength: 20, maxLength: 40 });
  fc.assert(
    fc.property(content, content, questions, (one, two, questions) => {
      made += 1;
      const tree = path.join(dir, String(made));
      for (const [directory, kinds] of [
        ['one', one],
        ['two', two],
      ] as const) {
        const real = joined(rawOf(tree), directory);
        mkdirSync(real, { recursive: true });
        for (const [index, kind] of kinds.entries()) {
          const place = diskPath(joined(real, NAMES[index] ?? ''));
          if (kind === 'file') writeFileSync(place, '');
          if (kind === 'directory') mkdirSync(place);
          if (kind === 'link') symlinkSync('..', place);
          if (kind === 'broken') symlinkSync('nowhere', place);
        }
      }
      const from = joined(rawOf(tree), 'two');
      const look = new TargetLook(new Pulse(pulseMemory()), [], () => undefined);
      for (const { directory, names, isRelative } of questions) {
        for (const name of names) {
          const target = isRelative ? `../${directory}/${name}` : `${rawOf(tree)}/${directory}/${name}`;
          const truth = isThere(isRelative ? `${from}/${target}` : target) ? 'exists' : 'missing';
          if (look.presence(from, target) !== truth) throw new Error(`${JSON.stringify(target)} is ${truth}`);
        }
      }
    }),
    { numRuns, seed: Number(process.env.STACKWARDEN_TEST_SEED ?? 1) },
  );
  t.equal(made, numRuns);
});

t.test('nothing below a hanging place is checked, whatever its path', async t => {
  const dir = t.testdir({ held: { file: '' }, other: { file: '' } });
  const look = new TargetLook(new Pulse(pulseMemory()), [path.join(dir, 'held')], () => undefined);
  const presence = (target: string) => look.presence(dir, target);
  for (let time = 0; time < 3; time += 1) {
    t.equal(presence(path.join(dir, 'other/file')), 'exists');
    t.equal(presence(path.join(dir, 'other/none')), 'missing');
    t.equal(presence(`${dir}/other/../held/none`), 'unknown');
    t.equal(presence('held/none'), 'unknown');
    t.equal(presence(path.join(dir, 'other')), 'exists');
    t.equal(presence(path.join(dir, 'held')), 'unknown');
  }
  t.same(look.takeMet(), [path.join(dir, 'held')]);
});

t.test('a large directory is not read again for a few targets', async t => {
  const names = Array.from({ length: 400 }, (_, index) => `${index}`);
  const dir = t.testdir(Object.fromEntries(names.map(name => [name, ''])));
  const pulse = new Pulse(pulseMemory());
  const large = new Map();
  const looks = () => new TargetLook(pulse, [], () => undefined, large);
  const asked = (look: TargetLook, names: readonly string[]): number => {
    const before = pulse.beats;
    t.same(
      names.filter(name => look.presence(dir, path.join(dir, name)) !== 'exists'),
      [],
    );
    return pulse.beats - before;
  };
  t.equal(asked(looks(), names), 2, 'what is not known to be large is read for the second question');
  const look = looks();
  t.equal(asked(look, ['7', '5', '6']), 3, 'each is asked for by itself');
  writeFileSync(path.join(dir, 'new'), '');
  t.equal(look.presence(dir, path.join(dir, 'new')), 'exists');
  const calls = asked(look, names);
  t.ok(calls > 10 && calls < 100, `it is read for so many questions that they would cost more: ${calls} calls`);
  t.equal(asked(look, names), 0);
});
