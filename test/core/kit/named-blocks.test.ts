// The named blocks of a tree, also when an object stands at two places, or changes after it was searched.
import t from 'tap';
import { deepFreeze } from '../../../core/kit/deep-freeze.ts';
import { findBlocks } from '../../../core/kit/named-blocks.ts';

const pathsIn = (root: Record<string, unknown>): string[] =>
  findBlocks(root as never).map(({ path }) => path.join('.'));

t.test('a frozen object at two places is two blocks', async t => {
  const shared = { process_name: 'Shared', inner: { process_name: 'Inner' } };
  const root = deepFreeze({ one: shared, two: shared, wait_for_url: { process_name: 'Other' } });
  const expected = ['one', 'one.inner', 'two', 'two.inner'];
  t.same(pathsIn(root), expected);
  t.same(pathsIn(root), expected);
  t.same(pathsIn({ three: shared }), ['three', 'three.inner']);
});

t.test('an object that is not frozen is searched each time', async t => {
  const member: Record<string, unknown> = { process_name: 'One' };
  const root = { one: member };
  t.same(pathsIn(root), ['one']);
  member.inner = { process_name: 'Inner' };
  t.same(pathsIn(root), ['one', 'one.inner']);
});
