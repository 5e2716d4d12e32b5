// Laws of the configuration tree: merges, single edits, differences.
import fc from 'fast-check';
import t from 'tap';
import { stringify } from 'yaml';
import { editText } from '../../../core/config/edit.ts';
import { changedPaths, editsOf, merge, withEdit, withEdits, withoutPaths } from '../../../core/config/layers.ts';
import { type ConfigFormat, parseConfig } from '../../../core/config/load.ts';
import { deepEqual } from '../../../core/kit/deep-equal.ts';
import { isObject } from '../../../core/kit/plain-object.ts';
import { valueAt } from '../../../core/kit/value-at.ts';

const key = fc.stringMatching(/^[a-z]{1,3}$/);
const leaf = fc.oneof(fc.integer(), fc.boolean(), fc.string(), fc.array(fc.integer(), { maxLength: 3 }));
const { tree } = fc.letrec(tie => ({
  tree: fc.dictionary(key, fc.oneof({ depthSize: 'small' }, leaf, tie('tree')), { maxKeys: 4, noNullPrototype: true }),
})) as { tree: fc.Arbitrary<Record<string, unknown>> };
const path = fc.array(key, { minLength: 1, maxLength: 3 });
const edits = fc.array(fc.record({ path, value: fc.oneof(leaf, tree, fc.constant(undefined)) }), { maxLength: 8 });

t.test('a merge takes each value from the upper tree, else from the lower', async t => {
  const laws = () =>
    fc.assert(
      fc.property(tree, tree, (lower, upper) => {
        const merged = merge(lower, upper);
        t.same(merge(merged, upper), merged, { diagnostic: false } as never);
        const visit = (value: unknown, at: string[]): boolean =>
          isObject(value) && Object.keys(value).length > 0
            ? Object.entries(value).every(([name, member]) => visit(member, [...at, name]))
            : changedPaths(valueAt(merged, at), value).length === 0 || isObject(value);
        return visit(upper, []);
      }),
      { numRuns: 200 },
    );
  t.doesNotThrow(laws, 'what is above wins, and merging again changes nothing');

  const [lower, one, two] = [{ a: { b: 1, c: 2 }, d: { e: 1 } }, { a: { b: 3 } }, { d: { e: 5 } }];
  const before = merge(lower, { ...one, ...two }) as Record<string, unknown>;
  const after = merge(lower, { ...one, d: { e: 6 } }) as Record<string, unknown>;
  t.equal(after.a, before.a, 'what neither layer changed stays the same object');
  t.same(after, { a: { b: 3, c: 2 }, d: { e: 6 } });
  t.same(merge({ b: 0 }, one.a), { b: 3 }, 'under another layer it is another');
});

t.test('an edit sets or removes one value, and edits together are edits in sequence', async t => {
  const isFound = fc.property(tree, path, leaf, (root, at, value) => {
    const edited = withEdit(root, { path: at, value });
    return changedPaths(valueAt(edited, at), value).length === 0;
  });
  const allAreFound = fc.property(tree, tree, (root, patch) => {
    const edited = editsOf(patch).reduce<unknown>(withEdit, root);
    return editsOf(patch).every(edit => changedPaths(valueAt(edited, edit.path), edit.value).length === 0);
  });
  const noDifference = fc.property(tree, root => changedPaths(root, structuredClone(root)).length === 0);
  const oneByOne = fc.property(tree, edits, (root, all) =>
    deepEqual(withEdits(root, all), all.reduce<unknown>(withEdit, root)),
  );
  t.doesNotThrow(() => fc.assert(oneByOne), 'edits together are edits one after the other');
  const written = fc.property(tree, edits, fc.array(path, { maxLength: 3 }), (root, all, paths) => {
    const gone = paths.map(at => ({ path: at, value: undefined }));
    const kept = withEdits(withEdits(root, withoutPaths(all, paths)), gone);
    return deepEqual(withoutEmpty(kept), withoutEmpty(withEdits(withEdits(root, all), gone)));
  });
  t.doesNotThrow(() => fc.assert(written), 'edits of paths that are written elsewhere matter no more');
  t.doesNotThrow(() => fc.assert(isFound), 'a value that is set is found');
  t.doesNotThrow(() => fc.assert(allAreFound), 'and all of a patch');
  t.doesNotThrow(() => fc.assert(noDifference), 'no difference is none');
});

t.test('an edit of the text keeps its comment, and repeated changes nothing', async t => {
  for (const format of ['json', 'yaml'] as const) {
    const comment = format === 'json' ? '// kept' : '# kept';
    const law = fc.property(tree, path, fc.integer(), (root, at, value) => {
      const changed = editText(`${comment}\n${JSON.stringify(root, null, 2)}\n`, format, [{ path: at, value }]);
      return changed.startsWith(comment) && editText(changed, format, [{ path: at, value }]) === changed;
    });
    t.doesNotThrow(() => fc.assert(law), `${format}: the comment stays, and the same edit again changes nothing`);
  }
});

t.test('a text with many edits reads as the tree with the same edits', async t => {
  const texts = {
    'JSON on lines': (root: unknown) => ({ format: 'json', text: `// kept\n${JSON.stringify(root, null, 2)}\n` }),
    'JSON on one line': (root: unknown) => ({ format: 'json', text: JSON.stringify(root) }),
    'YAML on lines': (root: unknown) => ({ format: 'yaml', text: `# kept\n${stringify(root)}` }),
    'YAML in brackets': (root: unknown) => ({ format: 'yaml', text: stringify(root, { collectionStyle: 'flow' }) }),
  } satisfies Record<string, (root: unknown) => { format: ConfigFormat; text: string }>;
  for (const [name, textOf] of Object.entries(texts)) {
    const { format, text } = textOf({ b: 1, a: 2 });
    const exchanged = editText(text, format, [
      { path: ['a'], value: undefined },
      { path: ['c'], value: 3 },
    ]);
    t.same(parseConfig(exchanged, name, format), { b: 1, c: 3 }, `${name}: the last is taken out, and another added`);
    const law = fc.property(tree, edits, (root, all) => {
      const { format, text } = textOf(root);
      const edited = editText(text, format, all);
      const value = parseConfig(edited, name, format);
      return deepEqual(value, withEdits(root, all)) && edited.startsWith('kept', 2) === text.startsWith('kept', 2);
    });
    t.doesNotThrow(() => fc.assert(law), `${name}: it says afterwards what the tree does`);
  }
});

/** The value without empty objects: an edit that deletes leaves the parents that it made on its way. */
function withoutEmpty(value: unknown): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withoutEmpty(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => !(isObject(member) && Object.keys(member).length === 0)));
}
