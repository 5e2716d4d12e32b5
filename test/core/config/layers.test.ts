// Laws of the configuration tree: merging, single edits, differences.
import fc from 'fast-check';
import t from 'tap';
import { editText } from '../../../core/config/edit.ts';
import { changedPaths, editsOf, isObject, merge, valueAt, withEdit } from '../../../core/config/layers.ts';

const key = fc.stringMatching(/^[a-z]{1,3}$/);
const leaf = fc.oneof(fc.integer(), fc.boolean(), fc.string(), fc.array(fc.integer(), { maxLength: 3 }));
const { tree } = fc.letrec(tie => ({
  tree: fc.dictionary(key, fc.oneof({ depthSize: 'small' }, leaf, tie('tree')), { maxKeys: 4, noNullPrototype: true }),
})) as { tree: fc.Arbitrary<Record<string, unknown>> };
const path = fc.array(key, { minLength: 1, maxLength: 3 });

t.test('merging', async t => {
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
  t.pass('what is above wins, and merging again changes nothing');
});

t.test('edits', async t => {
  fc.assert(
    fc.property(tree, path, leaf, (root, at, value) => {
      const edited = withEdit(root, { path: at, value });
      return changedPaths(valueAt(edited, at), value).length === 0;
    }),
  );
  fc.assert(
    fc.property(tree, tree, (root, patch) => {
      const edited = editsOf(patch).reduce<unknown>(withEdit, root);
      return editsOf(patch).every(edit => changedPaths(valueAt(edited, edit.path), edit.value).length === 0);
    }),
  );
  fc.assert(fc.property(tree, root => changedPaths(root, structuredClone(root)).length === 0));
  t.pass('a value that is set is found, and no difference is none');
});

t.test('edits of the text', async t => {
  for (const format of ['json', 'yaml'] as const) {
    fc.assert(
      fc.property(tree, path, fc.integer(), (root, at, value) => {
        const comment = format === 'json' ? '// kept\n' : '# kept\n';
        const text = comment + JSON.stringify(root, null, 2) + (format === 'json' ? '\n' : '\n');
        const changed = editText(text, format, [{ path: at, value }]);
        const again = editText(changed, format, [{ path: at, value }]);
        return changed.startsWith(comment.trimEnd()) && again === changed;
      }),
      { numRuns: 100 },
    );
  }
  t.pass('the comment stays, and the same edit again changes nothing');
});
