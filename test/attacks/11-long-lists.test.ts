// Long lists that are saved again: what was stored is found in work that grows with the list, not with its square.
import t from 'tap';
import { Place, SchemaTree } from '../../core/config/marks.ts';
import { restoredUpdate } from '../../core/config/restored-secrets.ts';
import { startHost } from '../support/host.ts';

/** How often the members of a stored list are looked at while it is sent back in another order. */
function looksAt(count: number): number {
  let looks = 0;
  const watch = (member: object) =>
    new Proxy(member, {
      ownKeys(target) {
        looks += 1;
        return Reflect.ownKeys(target);
      },
    });
  const list = Array.from({ length: count }, (_, index) => ({ name: `member ${index}` }));
  const stored = { inForce: { list: list.map(watch) }, withoutMemory: { list: list.map(watch) } };
  const restored = restoredUpdate({ list: list.toReversed() }, stored, Place.root(new SchemaTree()), 'merged');
  t.same(restored, { list: list.toReversed() });
  return looks;
}

t.test('a list of twice the length takes twice the work', async t => {
  const looks = looksAt(200);
  t.ok(looks > 0);
  t.equal(looksAt(400), 2 * looks);
});

// The square of this length would take far longer than the deadline.
t.test('a quarter of a megabyte of members, saved twice', { timeout: 120_000 }, async t => {
  const app = await startHost({
    plugins: ['config', 'process'],
    config: { one: { process_name: 'One', command: ['a'] } },
  });
  t.teardown(() => app.stop());
  const range = (from: number) => Array.from({ length: 12_000 }, (_, index) => from + index);
  const save = (from: number) =>
    app.post('/config', {
      updates: {
        dumb: { told_apart_by_all: range(from).map(number => ({ number })) },
        one: { wait_for_url: range(from).map(number => ({ url: `http://127.0.0.1/${number}` })) },
      },
      persist: true,
    });
  for (const from of [0, 100_000]) t.equal((await save(from)).status, 200);
  const { dumb, one } = (await app.get('/config')).body;
  t.same([dumb.told_apart_by_all[0], dumb.told_apart_by_all.length], [{ number: 100_000 }, 12_000]);
  t.same([one.wait_for_url[0], one.wait_for_url.length], [{ url: 'http://127.0.0.1/100000' }, 12_000]);
});

// Here too, the square would take far longer than the deadline.
t.test('a list of which most items do not fit', { timeout: 60_000 }, async t => {
  const groups = ['calm', ...Array.from({ length: 20_000 }, (_, index) => index)];
  const app = await startHost({
    plugins: ['config', 'process', 'groups'],
    config: { one: { process_name: 'One', command: ['a'], enabled: false, groups } },
  });
  t.teardown(() => app.stop());
  t.same((await app.get('/config')).body.one.groups, ['calm']);
});
