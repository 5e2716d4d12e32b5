// An rclone mount of InfiniDysk needs InfiniDysk; the name of the signal is that of its former name.
import { definePlugin } from '#core';

const KINDS = ['infinidysk', 'nzbdav'];

export default definePlugin({
  name: 'signal-rclone-provider-nzbdav',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'rclone_provider_nzbdav', {
      signal: 'rclone_provider_nzbdav',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'InfiniDysk, whose files an rclone instance mounts',
      find: snapshot => ({
        relations: snapshot
          .entriesOf('rclone')
          .filter(entry =>
            KINDS.includes(
              String(entry.config.key_type ?? '')
                .trim()
                .toLowerCase(),
            ),
          )
          .flatMap(({ processName: dependent }) =>
            snapshot.entriesOf('infinidysk').map(({ processName }) => ({ dependency: processName, dependent })),
          ),
      }),
    });
  },
});
