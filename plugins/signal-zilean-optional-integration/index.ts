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
        relations: snapshot.entries.flatMap(({ key, processName: dependent }) =>
          (host.find('service.templates')?.get(key)?.relations?.soft ?? [])
            .filter(({ signal }) => signal === SIGNAL)
            .flatMap(({ linkedTo }) => linkedTo.flatMap(other => snapshot.entriesOf(other)))
            .map(({ processName }) => ({ dependency: processName, dependent })),
        ),
      }),
    });
  },
});
