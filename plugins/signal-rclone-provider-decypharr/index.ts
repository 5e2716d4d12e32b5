// An rclone mount of Decypharr needs Decypharr.
import { definePlugin } from '#core';

export default definePlugin({
  name: 'signal-rclone-provider-decypharr',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'rclone_provider_decypharr', {
      signal: 'rclone_provider_decypharr',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'Decypharr, whose files an rclone instance mounts',
      find: snapshot => ({
        relations: snapshot
          .entriesOf('rclone')
          .filter(entry => entry.config.decypharr_enabled === true)
          .flatMap(({ processName: dependent }) =>
            snapshot.entriesOf('decypharr').map(({ processName }) => ({ dependency: processName, dependent })),
          ),
      }),
    });
  },
});
