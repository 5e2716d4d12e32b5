// Canonical texts are equal exactly when the data counts as equal.
import fc from 'fast-check';
import t from 'tap';
import { canonicalText } from '../../../core/kit/canonical-text.ts';
import { deepEqual } from '../../../core/kit/deep-equal.ts';

const data = fc.object({
  maxDepth: 2,
  maxKeys: 3,
  values: [fc.constantFrom(0, -0, 1, '', '0', 'a,b', '"', null, true)],
});

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, shuffled(member)] as const);
  return Object.fromEntries(members.reverse());
}

t.test('the order of members does not matter', async () => {
  fc.assert(fc.property(data, value => canonicalText(value) === canonicalText(shuffled(value))));
});

t.test('equal data, and no other, has the same text', async () => {
  const same = (one: unknown, other: unknown) =>
    (canonicalText(one) === canonicalText(other)) === deepEqual(one, other);
  const small = fc.oneof(
    data,
    fc.array(fc.constantFrom(0, -0, '0', '0,0', null, 'null', Number.NaN), { maxLength: 3 }),
  );
  fc.assert(fc.property(small, small, same));
});
