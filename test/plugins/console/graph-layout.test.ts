// The layout of the graph: no two services overlap, and each stands to the right of what it needs.
import { existsSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';

const place = new URL('../../../plugins/console/page/graph-layout.ts', import.meta.url);

t.test('the laws hold for any graph', { skip: !existsSync(place) }, async t => {
  const { layoutOf, NODE_HEIGHT, NODE_WIDTH } = (await import(
    place.href
  )) as typeof import('../../../plugins/console/page/graph-layout.ts');
  const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
  const pair = fc.tuple(fc.nat(names.length - 1), fc.nat(names.length - 1));
  const edgesOf = (pairs: readonly (readonly [number, number])[]) =>
    pairs.map(([source, target]) => ({ source: `s${source}`, target: `s${target}`, isHard: true }));

  const isOrderly = (pairs: readonly (readonly [number, number])[]): boolean => {
    const { nodes, width, height } = layoutOf(names, edgesOf(pairs));
    const isInside = nodes.every(
      ({ x, y }) => x >= 0 && y >= 0 && x + NODE_WIDTH <= width && y + NODE_HEIGHT <= height,
    );
    const isApart = nodes.every((one, index) =>
      nodes
        .slice(index + 1)
        .every(other => Math.abs(one.x - other.x) >= NODE_WIDTH || Math.abs(one.y - other.y) >= NODE_HEIGHT),
    );
    return isInside && isApart && new Set(nodes.map(({ name }) => name)).size === names.length;
  };
  t.doesNotThrow(
    () => fc.assert(fc.property(fc.array(pair), isOrderly)),
    'circles and services that need themselves, too',
  );

  // Edges from lower to higher numbers form no cycle.
  const forward = fc.array(pair.filter(([source, target]) => source < target));
  const law = fc.property(forward, pairs => {
    const { nodes } = layoutOf(names, edgesOf(pairs));
    const leftOf = new Map(nodes.map(({ name, x }) => [name, x]));
    return pairs.every(([source, target]) => (leftOf.get(`s${source}`) ?? 0) < (leftOf.get(`s${target}`) ?? 0));
  });
  t.doesNotThrow(() => fc.assert(law), 'what is needed stands to the left');
});
