// Services that can search with Zilean; a hint, never a reason to wait.
import { definePlugin } from '#core';

const SIGNAL = 'zilean_optional_integration';

export default definePlugin({
  name: 'signal-zilean-optional-integration',
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
  },
});
