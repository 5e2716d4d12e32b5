// The contract of signal sources: runs a source against its own table of configurations, which includes near misses.
import t from 'tap';
import { findBlocks } from '../../core/kit/named-blocks.ts';
import type { GraphSnapshot, SignalFindings, SignalSource } from '../../plugins/dependency-graph/contract.ts';
import { createSnapshot } from '../../plugins/dependency-graph/snapshot.ts';
import { graphEntries } from '../support/graph-entries.ts';
import { templatesOf } from '../support/templates.ts';

export interface SignalCase {
  readonly name: string;
  /** The whole configuration. No defaults are added, so a key that is left out has no entry. */
  readonly config: Record<string, unknown>;
  /** Relations as `dependency -> dependent`; `? key -> dependent` for a need that no process can fill. */
  readonly finds: readonly string[];
}

/** Runs all tests of the contract; `load` returns the source that the plugin contributes. */
export function testSignalSource(load: () => Promise<SignalSource>, cases: readonly SignalCase[]): void {
  t.test('the source', async t => {
    const source = await load();
    t.match(source.signal, /^[a-z][a-z0-9_]{2,47}$/);
    t.equal(
      source.classification === 'linkage',
      source.strength === 'soft_linkage',
      'strength and classification agree',
    );
    t.ok(source.description.length > 10, 'it says what it means');
    t.ok(
      cases.some(({ finds }) => finds.length === 0),
      'the table has a near miss',
    );
    t.ok(cases.some(({ finds }) => finds.length > 0));

    const find = async (snapshot: GraphSnapshot): Promise<SignalFindings> => {
      const given = await source.find(snapshot);
      return 'length' in given ? { relations: given } : given;
    };
    const templates = await templatesOf();
    const entries = graphEntries(templates, source.reads);
    for (const { name, config, finds } of cases) {
      const snapshot = createSnapshot({ revision: '1', blocks: findBlocks(config), templates, entries });
      const before = JSON.stringify(snapshot.entries);
      const { relations = [], needs = [] } = await find(snapshot);
      const found = [
        ...relations.map(({ dependency, dependent }) => `${dependency} -> ${dependent}`),
        ...needs.flatMap(({ dependent, key, members }) =>
          members.length === 0 ? [`? ${key} -> ${dependent}`] : members.map(member => `${member} -> ${dependent}`),
        ),
      ];
      t.same([...new Set(found)].sort(), [...finds].sort(), name);
      const names = new Set(snapshot.entries.map(entry => entry.processName));
      for (const { dependency, dependent } of relations) {
        t.ok(names.has(dependency) && names.has(dependent), `${name}: both ends are there`);
      }
      t.same(await find(snapshot), { ...(await find(snapshot)) }, `${name}: the same each time`);
      t.equal(JSON.stringify(snapshot.entries), before, `${name}: what it reads is not changed`);
    }
    const nothing = createSnapshot({ revision: '1', blocks: [], templates, entries });
    const { relations = [], needs = [] } = await find(nothing);
    t.same([relations, needs], [[], []], 'nothing in an empty configuration');
  });
}
