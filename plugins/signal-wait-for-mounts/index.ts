// Signal: a service needs the providers of the mounts that it waits for.
import { definePlugin } from '#core';

export default definePlugin({
  name: 'signal-wait-for-mounts',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'wait_for_mounts', {
      signal: 'wait_for_mounts',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'Providers of mounts that must be there before it starts',
      find: snapshot => ({
        relations: snapshot.entries.flatMap(entry => {
          const { wait_for_mounts: mounts } = entry.config;
          return (Array.isArray(mounts) ? mounts : [])
            .filter(mount => typeof mount === 'string')
            .flatMap(mount => snapshot.providersOf(mount, entry))
            .map(({ processName }) => ({ dependency: processName, dependent: entry.processName }));
        }),
      }),
    });
  },
});
