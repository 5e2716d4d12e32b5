// Data with too many values is refused before they are looked at.
import t from 'tap';
import { refuseLargeData } from '../../../core/kit/plain-data.ts';

t.test('no member of a list that is too long is read', async t => {
  const list = Object.defineProperty(Array(100_001).fill(0), 0, {
    get: () => {
      throw new Error('the first member was read');
    },
  });
  t.throws(() => refuseLargeData(list, 10), { status: 413, message: /values/ });
});
