// The order of requested starts and stops, over graphs of any form.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { inOrder, type Needs, needsAmong, reversed } from '../../../plugins/process/client/in-order.ts';

const COUNT = 7;
const edges = fc.array(fc.tuple(fc.nat(COUNT - 1), fc.nat(COUNT - 1)), { maxLength: 20 });

function needsOf(pairs: readonly (readonly [number, number])[]): Map<string, Set<string>> {
  const needs = new Map(Array.from({ length: COUNT }, (_, index) => [`s${index}`, new Set<string>()]));
  for (const [from, to] of pairs) if (from !== to) needs.get(`s${from}`)?.add(`s${to}`);
  return needs;
}

/** When each item began and ended, in steps. */
async function walk(needs: Needs): Promise<Map<string, { began: number; ended: number }>> {
  const times = new Map<string, { began: number; ended: number }>();
  let step = 0;
  await inOrder(needs, async name => {
    if (times.has(name)) throw new Error(`${name} was done twice`);
    const time = { began: step++, ended: 0 };
    times.set(name, time);
    await turn();
    time.ended = step++;
  });
  return times;
}

t.test('without a cycle nothing begins before what it needs has ended', async t => {
  const law = fc.asyncProperty(edges, async pairs => {
    const needs = needsOf(pairs.map(([a, b]) => [Math.max(a, b), Math.min(a, b)] as const));
    for (const order of [needs, reversed(needs)]) {
      const times = await walk(order);
      for (const [name, others] of order)
        for (const other of others)
          if (!((times.get(other)?.ended ?? Number.NaN) < (times.get(name)?.began ?? Number.NaN)))
            throw new Error(`${name} began before ${other} had ended`);
    }
  });
  await t.resolves(fc.assert(law, { numRuns: 60 }));
});

t.test('a cycle blocks nothing', async t => {
  const law = fc.asyncProperty(edges, async pairs => (await walk(needsOf(pairs))).size === COUNT);
  await t.resolves(fc.assert(law, { numRuns: 60 }));
});

t.test('one call gives the needs among many services', async t => {
  const asked: string[] = [];
  const edges = [
    { source: 's0', target: 's1' },
    { source: 's0', target: 'another' },
    { source: 'another', target: 's2' },
  ];
  const host = {
    find: async (path: string) => {
      asked.push(path);
      return { edges };
    },
  };
  const names = Array.from({ length: COUNT }, (_, index) => `s${index}`);
  const needs = await needsAmong(names, host as never);
  t.strictSame([...(needs.get('s1') ?? [])], ['s0']);
  t.strictSame([...(needs.get('s2') ?? [])], [], 'what is not started holds nobody up');
  t.equal(asked.length, 1);
});
