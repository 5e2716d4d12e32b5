// Laws of the graph over generated configurations: with instances, cycles, disabled and missing services.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { findBlocks } from '../../../core/kit/named-blocks.ts';
import type { GraphSnapshot, SignalFindings, SignalSource } from '../../../plugins/dependency-graph/contract.ts';
import { contributionOf, templatesOf } from '../../support/templates.ts';

const folder = new URL('../../../plugins/dependency-graph/', import.meta.url);
const skip = !existsSync(new URL('index.ts', folder));
const load = async <Module>(name: string) => (await import(new URL(name, folder).href)) as Module;

/** Signals of the product, with their plugin folders. */
const SIGNALS: readonly (readonly [folder: string, signal: string])[] = [
  ['signal-core-service-map', 'core_service_map'],
  ['signal-core-service-fields', 'core_service_fields'],
  ['signal-wait-for-url', 'wait_for_url'],
  ['signal-wait-for-dir', 'wait_for_dir'],
  ['signal-wait-for-mounts', 'wait_for_mounts'],
  ['service-rclone', 'rclone_provider_zurg'],
  ['service-rclone', 'rclone_provider_decypharr'],
  ['service-rclone', 'rclone_provider_nzbdav'],
  ['service-zilean', 'zilean_optional_integration'],
  ['signal-non-core-dependency-map', 'non_core_dependency_map'],
  ['signal-conditional-startup-map', 'conditional_startup_map'],
  ['signal-documented-integration', 'documented_integration'],
  ['signal-depends-on', 'depends_on'],
];
const SINGLE = [
  'riven_backend',
  'cli_debrid',
  'decypharr',
  'infinidysk',
  'plex',
  'zilean',
  'postgres',
  'bazarr',
  'traefik',
];
const MANY = ['sonarr', 'prowlarr', 'seerr', 'rclone', 'zurg', 'neutarr'];
const CORES = fc.constantFrom('', 'decypharr', 'infinidysk', 'riven_backend', 'plex,nzbdav', 'nobody');

const members = fc.record(
  {
    enabled: fc.boolean(),
    core_service: CORES,
    wait_for_url: fc.constantFrom(
      'http://localhost:1/',
      'http://localhost:2/',
      { url: 'x', service: 'sonarr' },
      'no address',
    ),
    port: fc.constantFrom(1, 2, 3),
    wait_for_mounts: fc.constantFrom(['/m'], ['/m/a'], ['/m/a/b']),
    mount_path: fc.constantFrom('/m', '/m/a', '/m/b'),
    zurg_enabled: fc.boolean(),
    decypharr_enabled: fc.boolean(),
    key_type: fc.constantFrom('infinidysk', 'RealDebrid'),
    postgres_enabled: fc.boolean(),
    use_neutarr: fc.boolean(),
    mount_type: fc.constantFrom('dfs', 'external_rclone'),
  },
  { requiredKeys: ['enabled'] },
);
const configuration = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...SINGLE, 'mine', 'yours'), members, { maxKeys: 6 }),
    fc.dictionary(fc.constantFrom(...MANY), fc.dictionary(fc.constantFrom('A', 'B', 'C'), members, { maxKeys: 3 }), {
      maxKeys: 4,
    }),
  )
  .map(([single, many]) => ({
    ...Object.fromEntries(
      Object.entries(single).map(([key, block]) => [key, { process_name: `The ${key}`, ...block }]),
    ),
    ...Object.fromEntries(
      Object.entries(many).map(([key, blocks]) => [
        key,
        {
          instances: Object.fromEntries(
            Object.entries(blocks).map(([name, block]) => [name, { process_name: `${key} ${name}`, ...block }]),
          ),
        },
      ]),
    ),
  }));

type Row = Record<string, never> & { process_name: string; key: string; signals: string[] };

t.test('the laws hold for every process of any configuration', { skip, timeout: 240_000 }, async t => {
  const { createSnapshot } = await load<typeof import('../../../plugins/dependency-graph/snapshot.ts')>('snapshot.ts');
  const { createStructure } =
    await load<typeof import('../../../plugins/dependency-graph/structure.ts')>('structure.ts');
  const { createStartOrder } =
    await load<typeof import('../../../plugins/dependency-graph/start-order.ts')>('start-order.ts');
  const { GraphAnswer } = await load<typeof import('../../../plugins/dependency-graph/answer.ts')>('answer.ts');
  const { readOwnSignals } =
    await load<typeof import('../../../plugins/dependency-graph/own-signals.ts')>('own-signals.ts');
  const { graphEntries } = await import('../../support/graph-entries.ts');
  const templates = await templatesOf();
  const sources = await Promise.all(
    SIGNALS.map(([plugin, key]) => contributionOf<SignalSource>(plugin, 'dependency.signal', { key })),
  );
  const own = await readOwnSignals(fileURLToPath(new URL('../../../templates/signals.json', import.meta.url)));
  t.same(
    own.map(({ signal }) => signal),
    SIGNALS.map(([, signal]) => signal),
    'each is ranked',
  );
  const ranks = new Map(own.map(({ signal, rank }) => [signal, rank]));
  const signals = sources.map(source => ({
    source,
    plugin: null,
    strength: source.strength,
    rank: ranks.get(source.signal) ?? 0,
  }));

  const build = async (config: Record<string, unknown>) => {
    const snapshot: GraphSnapshot = createSnapshot({
      revision: '1',
      blocks: findBlocks(config),
      templates,
      entries: graphEntries(templates),
    });
    const found = await Promise.all(
      sources.map(async source => [source, (await source.find(snapshot)) as SignalFindings] as const),
    );
    return createStructure(snapshot, found);
  };

  const laws = fc.assert(
    fc.asyncProperty(configuration, fc.constantFrom('runtime' as const, 'all' as const), async (config, scope) => {
      const structure = await build(config);
      const context = { structure, signals, templates, status: () => 'stopped' as const };
      const names = structure.snapshot.entries.map(entry => entry.processName);
      const answers = new Map(
        structure.snapshot.entries.map(entry => [
          entry.processName,
          // biome-ignore lint/suspicious/noExplicitAny: an answer in wire form
          new GraphAnswer(entry, scope, context).toWire() as any,
        ]),
      );
      for (const [name, answer] of answers) {
        const nodes = new Set(answer.nodes.map((node: { id: string }) => node.id));
        const pairs = answer.edges.map(
          (edge: { source: string; target: string }) => `${edge.source} -> ${edge.target}`,
        );
        if (new Set(pairs).size !== pairs.length) throw new Error(`${name}: an edge is there twice`);
        for (const edge of answer.edges) {
          if (!nodes.has(edge.source) || !nodes.has(edge.target)) throw new Error(`${name}: an edge without its node`);
          if (edge.source === edge.target || edge.signals.length === 0)
            throw new Error(`${name}: an edge that says nothing`);
        }
        for (const row of [...answer.dependency_rows, ...answer.dependent_rows] as Row[]) {
          if (row.signals.length === 0) throw new Error(`${name}: a row without a signal`);
        }
        for (const group of answer.parallel_groups) {
          if (!group.members.every((member: string) => nodes.has(member)))
            throw new Error(`${name}: a member without its node`);
        }
        for (const row of answer.linked_outgoing_rows as Row[]) {
          const incoming = (answers.get(row.process_name)?.linked_incoming_rows ?? []) as Row[];
          const back = incoming.find(other => other.process_name === name);
          if (back === undefined || back.signals.join() !== row.signals.join())
            throw new Error(`${name} needs ${row.process_name}, which does not know it`);
        }
        const linked = [...answer.linked_outgoing_rows, ...answer.linked_incoming_rows];
        if (linked.length !== answer.edges.length) throw new Error(`${name}: edges and rows differ`);
        const steps = answer.startup_order.map((step: { key: string }) => step.key);
        if (new Set(steps).size !== steps.length) throw new Error(`${name}: a step is there twice`);
        if (steps.filter((key: string) => key === answer.config_key).length !== 1)
          throw new Error(`${name}: not itself`);
      }
      const order = createStartOrder(structure, ranks);
      const placed = new Set<string>();
      for (let left = [...order.needs.keys()]; left.length > 0; ) {
        const ready = left.filter(name => [...(order.needs.get(name) ?? [])].every(needed => placed.has(needed)));
        if (ready.length === 0) throw new Error('the order has a cycle');
        for (const name of ready) placed.add(name);
        left = left.filter(name => !placed.has(name));
      }
      const again = await build(config);
      const [first = ''] = names;
      const target = again.snapshot.entries.find(entry => entry.processName === first);
      if (target !== undefined) {
        const repeated = new GraphAnswer(target, scope, { ...context, structure: again }).toWire();
        if (JSON.stringify(repeated) !== JSON.stringify(answers.get(first))) throw new Error('not the same each time');
      }
    }),
    { numRuns: 300 },
  );
  await t.resolves(laws, 'symmetry, no edge twice, every end a node, one order, always the same');
});

t.test('an order exists for any relations, cycles included', { skip }, async t => {
  const { orderOf } = await load<typeof import('../../../plugins/dependency-graph/ordering.ts')>('ordering.ts');
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const relation = fc.record({
    before: fc.constantFrom(...names, 'stranger'),
    after: fc.constantFrom(...names),
    rank: fc.integer({ min: 0, max: 5 }),
  });
  /** Whether what is dropped between them would make a cycle. */
  const isReached = (kept: readonly { before: string; after: string }[], from: string, to: string): boolean => {
    const seen = new Set([from]);
    for (const name of seen) for (const { before, after } of kept) if (before === name) seen.add(after);
    return seen.has(to);
  };
  fc.assert(
    fc.property(fc.array(relation, { maxLength: 20 }), relations => {
      const { order, dropped, cycles } = orderOf(names, relations);
      const gone = new Set(dropped);
      const kept = relations.filter(
        each => !gone.has(each) && each.before !== each.after && names.includes(each.before),
      );
      return (
        [...order].sort().join() === names.join() &&
        kept.every(each => order.indexOf(each.before) < order.indexOf(each.after)) &&
        cycles.length === dropped.length &&
        dropped.every((each, at) => cycles[at]?.includes(each) && isReached(kept, each.after, each.before))
      );
    }),
    { numRuns: 2_000 },
  );
  t.same(orderOf(names, []).order, names, 'without relations the given order stays');
  const strong = { before: 'a', after: 'b', rank: 5 };
  t.same(orderOf(['b', 'a'], [strong, { before: 'b', after: 'a', rank: 1 }]).order, ['a', 'b'], 'the stronger stays');
  const loop = [strong, { before: 'b', after: 'a', rank: 1 }];
  t.same(orderOf(['a', 'b', 'c'], loop).order, ['a', 'b', 'c'], 'what has no part in a cycle keeps its place');
});
