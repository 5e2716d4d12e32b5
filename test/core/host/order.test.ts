// Laws of the set-up order, tested with generated sets of plugins.
import fc from 'fast-check';
import t from 'tap';
import { type Orderable, orderPlugins } from '../../../core/host/order.ts';

const names = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const plugins = fc.uniqueArray(
  fc.record({
    name: names,
    needs: fc.uniqueArray(names, { maxLength: 3 }),
    after: fc.uniqueArray(names, { maxLength: 2 }),
    rank: fc.nat(2),
  }),
  { selector: plugin => plugin.name },
);

t.test('a plugin comes after what it needs, and each plugin is sorted or in a cycle', async t => {
  fc.assert(
    fc.property(plugins, (set: Orderable[]) => {
      const { sorted, cycles } = orderPlugins(set);
      const at = new Map(sorted.map((plugin, index) => [plugin.name, index]));
      for (const plugin of sorted) {
        for (const name of [...plugin.needs, ...plugin.after]) {
          const before = at.get(name);
          if (before !== undefined && before > (at.get(plugin.name) ?? -1)) return false;
        }
      }
      return set.every(plugin => at.has(plugin.name) !== cycles.has(plugin.name));
    }),
  );
  t.end();
});

t.test('the order does not depend on how the folders were listed', async t => {
  fc.assert(
    fc.property(plugins, (set: Orderable[]) => {
      const forth = orderPlugins(set).sorted.map(plugin => plugin.name);
      const back = orderPlugins([...set].reverse()).sorted.map(plugin => plugin.name);
      return forth.join() === back.join();
    }),
  );
  t.end();
});

t.test('plugins that wait for no other are ordered by rank', async t => {
  fc.assert(
    fc.property(plugins, (set: Orderable[]) => {
      const free = orderPlugins(set.map(plugin => ({ ...plugin, needs: [], after: [] }))).sorted;
      return free.every(({ rank }, at) => at === 0 || (free[at - 1]?.rank ?? 0) <= rank);
    }),
  );
  t.end();
});
