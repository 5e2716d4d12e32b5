// Signal: services are documented to work together. This is a hint; no start waits for it.
import { definePlugin } from '#core';

const SIGNAL = 'documented_integration';

export default definePlugin({
  name: 'signal-documented-integration',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', SIGNAL, {
      signal: SIGNAL,
      classification: 'linkage',
      strength: 'soft_linkage',
      description: 'Services that are documented to work together',
      find: snapshot => ({
        relations: snapshot.entries.flatMap(entry =>
          snapshot
            .softLinks(SIGNAL, entry)
            .map(({ processName }) => ({ dependency: processName, dependent: entry.processName })),
        ),
      }),
    });
  },
});
