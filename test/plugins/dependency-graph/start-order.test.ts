// The order of starts when many services need each other.
import t from 'tap';
import type { GraphSnapshot } from '../../../plugins/dependency-graph/contract.ts';
import { createStartOrder } from '../../../plugins/dependency-graph/start-order.ts';
import type { Edge, Structure } from '../../../plugins/dependency-graph/structure.ts';

const SIGNAL = 'depends_on';

/** `needed` holds, for each service, the indexes of the services that it needs. */
function orderOf(needed: readonly (readonly number[])[]) {
  const nameOf = (place: number) => `service ${place}`;
  const entries = needed.map((_, place) => ({ processName: nameOf(place), enabled: true }));
  const outgoing = new Map(
    needed.map((places, place): [string, Edge[]] => [
      nameOf(place),
      places.map(other => ({ dependency: nameOf(other), dependent: nameOf(place), signals: [SIGNAL] })),
    ]),
  );
  const snapshot = { entries } as unknown as GraphSnapshot;
  const order = createStartOrder({ snapshot, outgoing } as unknown as Structure, new Map([[SIGNAL, 1]]));
  return { ...order, names: entries.map(({ processName }) => processName) };
}

/** How many services can be started in this order, each after what it needs. */
function started({ needs, names }: ReturnType<typeof orderOf>): number {
  const done = new Set<string>();
  for (let before = -1; before < done.size; ) {
    before = done.size;
    for (const name of names) if ([...(needs.get(name) ?? [])].every(other => done.has(other))) done.add(name);
  }
  return done.size;
}

t.test('each of a hundred pairs needs its other half', async t => {
  const order = orderOf(Array.from({ length: 200 }, (_, place) => [place % 2 === 0 ? place + 1 : place - 1]));
  t.equal(order.cycles.length, 20, 'the first ones are told');
  t.same(order.cycles[0], ['service 0', 'service 1']);
  t.equal([...order.needs.values()].filter(({ size }) => size === 1).length, 100, 'each pair keeps one direction');
  t.equal(started(order), 200);
});

t.test('a thousand services need twenty others each, and three hundred all others', async t => {
  let seed = 1;
  const any = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed % 1_000;
  };
  const some = Array.from({ length: 1_000 }, (_, place) => Array.from({ length: 20 }, any).filter(at => at !== place));
  t.equal(started(orderOf(some)), 1_000);
  const all = Array.from({ length: 300 }, (_, place) => place);
  t.equal(started(orderOf(all.map(place => all.filter(other => other !== place)))), 300);
});
