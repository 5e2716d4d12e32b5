// Signal: a service needs the provider of the directory that it waits for, or the service that its wait names.
import { definePlugin } from '#core';
import type { GraphEntry, GraphSnapshot } from '../dependency-graph/contract.ts';

const PLACES = ['path', 'dir', 'directory', 'value'];

export default definePlugin({
  name: 'signal-wait-for-dir',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'wait_for_dir', {
      signal: 'wait_for_dir',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'Providers of a directory that must be there before it starts',
      find: snapshot => ({
        relations: snapshot.entries.flatMap(entry =>
          listOf(entry.config.wait_for_dir)
            .flatMap(wait => providers(wait, entry, snapshot))
            .map(({ processName }) => ({ dependency: processName, dependent: entry.processName })),
        ),
      }),
    });
  },
});

function providers(wait: unknown, entry: GraphEntry, snapshot: GraphSnapshot): GraphEntry[] {
  if (typeof wait === 'string') return [...snapshot.providersOf(wait, entry)];
  if (typeof wait !== 'object' || wait === null) return [];
  const members = wait as Record<string, unknown>;
  const places = PLACES.map(key => members[key]).filter(place => typeof place === 'string');
  return [...places.flatMap(place => snapshot.providersOf(place, entry)), ...snapshot.namedBy(members, entry)];
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null || value === '') return [];
  return Array.isArray(value) ? value : [value];
}
