// Laws of repairs over generated trees: a dry run changes nothing and predicts the run exactly, a second run finds
// nothing to do, and the undo manifest restores every link. Targets are resolved as Node does.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { resolved } from '../../../plugins/symlinks/places/raw-path.ts';
import { found, linkDir } from '../../support/links.ts';
import { rounds } from '../../support/rounds.ts';
import { repairInput, restoreInput, startTaskChild } from '../../support/symlink-task.ts';

const ID = 'b'.repeat(32);
/** Members that differ between a dry run and the run. */
const OWN = ['dry_run', 'duration_ms', 'backup_manifest'];

/** Names as bytes: few, so that trees overlap; some are invalid UTF-8, and one is as long as possible. */
const name = fc.constantFrom('a', 'b', 'c', 'd e', '\xff\xfe', 'caf\xc3\xa9', 'n\nl', '"\\', 'x'.repeat(255));
const target = fc
  .oneof(
    fc.constantFrom(
      '/old',
      '/old/',
      '/old/x/y',
      '/older/x',
      '/old/\xff',
      '/mid/z',
      '.',
      '..',
      'a',
      'b/c',
      '../a',
      '../../b',
      './d e',
      '',
    ),
    fc.tuple(fc.constantFrom('/old/', '../', '/old/../', 'a/../'), name).map(parts => parts.join('')),
  )
  .map(text => (text === '' ? 'a' : text));
const place = fc.array(name, { minLength: 1, maxLength: 2 });
const entries = fc.array(
  fc.record({
    root: fc.constantFrom('one', 'two', 'to'),
    place,
    kind: fc.constantFrom('link', 'link', 'link', 'directory', 'file'),
    target,
  }),
  { minLength: 10, maxLength: 30 },
);
const request = fc.record({
  rules: fc.shuffledSubarray([
    { from_prefix: '/old', to_prefix: '/new' },
    { from_prefix: '/old/x/', to_prefix: '/' },
    { from_prefix: 'a', to_prefix: 'b' },
    { from_prefix: '/mid', to_prefix: 'DIR/one' },
  ]),
  roots: fc.subarray(['one', 'two', 'one/a', 'to'], { minLength: 1 }),
  migrations: fc.subarray([
    { from_root: 'one', to_root: 'to' },
    { from_root: 'two', to_root: 'to' },
    { from_root: 'two', to_root: 'to/a' },
  ]),
  includeBroken: fc.boolean(),
  overwrites: fc.boolean(),
  copies: fc.boolean(),
});

function grow(
  directory: string,
  tree: readonly { root: string; place: string[]; kind: string; target: string }[],
): void {
  for (const root of ['one', 'two', 'to']) mkdirSync(path.join(directory, root), { recursive: true });
  for (const { root, place: parts, kind, target: to } of tree) {
    const at = Buffer.from([directory, root, ...parts].join('/'), 'latin1');
    try {
      mkdirSync(Buffer.from([directory, root, ...parts.slice(0, -1)].join('/'), 'latin1'), { recursive: true });
      if (kind === 'directory') mkdirSync(at);
      else if (kind === 'file') writeFileSync(at, 'text');
      else symlinkSync(Buffer.from(to, 'latin1'), at);
    } catch {
      // Something else is already there.
    }
  }
}

t.test('the laws hold for generated trees', async t => {
  const dir = linkDir(t);
  const run = startTaskChild(t, { configDir: dir, id: ID });
  const library = path.join(dir, 'library');
  const backupPath = path.join(dir, 'undo.json');
  let changes = 0;
  /** A refusal is an answer too, for example of a link in a place where links would be moved. */
  const answerOf = async (input: object) => {
    const message = await run('repair', input);
    if (message.kind === 'failure' && message.failure.status !== 400) throw new Error(message.failure.message);
    // biome-ignore lint/suspicious/noExplicitAny: the members of a result are looked at one by one
    return (message.kind === 'failure' ? message.failure : message.result) as any;
  };
  await fc.assert(
    fc.asyncProperty(entries, request, async (tree, { rules, roots, migrations, ...flags }) => {
      fc.pre(rules.length > 0 || migrations.length > 0);
      // Two migrations from one root would follow each other.
      fc.pre(new Set(migrations.map(({ from_root }) => from_root)).size === migrations.length);
      rmSync(library, { recursive: true, force: true });
      rmSync(backupPath, { force: true });
      grow(library, tree);
      const at = (place: string): string => path.join(library, place);
      const input = repairInput({
        ...flags,
        rules: rules.map(rule => ({ ...rule, to_prefix: rule.to_prefix.replace('DIR', library) })),
        roots: roots.map(at),
        migrations: migrations.map(({ from_root, to_root }) => ({ from_root: at(from_root), to_root: at(to_root) })),
      });
      const before = found(library);
      const said = await answerOf({ ...input, dryRun: true });
      if (found(library) !== before) throw new Error('the dry run has changed something');
      const done = await answerOf({ ...input, backupPath });
      for (const member of OWN) for (const answer of [said, done]) delete answer[member];
      if (JSON.stringify(said) !== JSON.stringify(done))
        throw new Error(`said ${JSON.stringify(said)}\ndone ${JSON.stringify(done)}`);
      const count = 'status' in done ? 0 : done.changed + done.moved + done.copied;
      changes += count;
      if (count === 0) return found(library) === before;
      await run('restore', restoreInput({ manifestPath: backupPath }));
      if (found(library) !== before) throw new Error('the undo manifest does not bring it back');
      return true;
    }),
    { numRuns: rounds(6), seed: 5, endOnFailure: true },
  );
  t.ok(changes > 0, `${changes} changes`);
});

t.test('targets are resolved as Node does', async t => {
  const part = fc.constantFrom('/', '//', '.', '..', '/.', '/..', 'a', '.a', 'a.', 'd e', '\xff');
  const targets = fc.array(part, { maxLength: 8 }).map(parts => parts.join(''));
  const wrong = fc
    .sample(targets, 100)
    .filter(target => resolved('/r/s', target) !== path.posix.resolve('/r/s', target));
  t.same(wrong, []);
});
