// Values that several plugins contribute together: later values win, and a contribution that fails does no harm.
import t from 'tap';
import type { Contribution, ContributionList } from '../../../core/contract/host.ts';
import { contributedValues } from '../../../core/kit/contributed-values.ts';

interface Giver {
  values(subject: string): Record<string, unknown>;
}

t.test('a contribution that fails removes no values of others', async t => {
  const broken: Giver = {
    values() {
      throw new Error('no values');
    },
  };
  const rows = [{ values: () => ({ a: 1, b: 1 }) }, broken, { values: (subject: string) => ({ b: subject }) }].map(
    (value, index): Contribution<Giver> => ({ owner: 'x', key: String(index), value }),
  );
  t.same(contributedValues(rows as unknown as ContributionList<Giver>, 'me'), { a: 1, b: 'me' });
});
