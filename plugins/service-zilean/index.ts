// Zilean: reports which services can search with it, and registers it as an indexer of torrents.
import { definePlugin } from '#core';
import type {} from '../dependency-graph/contract.ts';
import type {} from '../service-arr/contract.ts';

const KEY = 'zilean';
const SIGNAL = 'zilean_optional_integration';

export default definePlugin({
  name: 'service-zilean',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', SIGNAL, {
      signal: SIGNAL,
      classification: 'linkage',
      strength: 'soft_linkage',
      description: 'Services that can search with Zilean',
      find: snapshot => ({
        relations: snapshot.entries.flatMap(entry =>
          snapshot
            .softLinks(SIGNAL, entry)
            .map(({ processName }) => ({ dependency: processName, dependent: entry.processName })),
        ),
      }),
    });
    host.contribute('arr.indexer', KEY, {
      configKey: KEY,
      entry: ({ block }) => ({
        name: 'Zilean',
        implementation: 'Torznab',
        template: 'Generic Torznab',
        fields: { baseUrl: `http://127.0.0.1:${block.port}/torznab` },
        address: ['baseUrl'],
      }),
    });
  },
});
