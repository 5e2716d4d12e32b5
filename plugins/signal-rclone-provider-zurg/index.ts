// An rclone mount of a zurg library needs that zurg.
import { definePlugin } from '#core';
import type { GraphEntry } from '../dependency-graph/contract.ts';

export default definePlugin({
  name: 'signal-rclone-provider-zurg',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'rclone_provider_zurg', {
      signal: 'rclone_provider_zurg',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'The zurg instance whose library an rclone instance mounts',
      find: snapshot => ({
        relations: snapshot
          .entriesOf('rclone')
          .filter(entry => entry.config.zurg_enabled === true)
          .flatMap(entry =>
            providersOf(entry, snapshot.entriesOf('zurg')).map(({ processName }) => ({
              dependency: processName,
              dependent: entry.processName,
            })),
          ),
      }),
    });
  },
});

/** The one it names by file, else those of the same core service, else of the same provider, else all. */
function providersOf(mount: GraphEntry, all: readonly GraphEntry[]): readonly GraphEntry[] {
  const { zurg_config_file: file, key_type: kind } = mount.config;
  const byFile = all.filter(zurg => typeof file === 'string' && file !== '' && zurg.config.config_file === file);
  // Instances that all keep the default name no particular one.
  if (byFile.length === 1) return byFile;
  const byCore = all.filter(zurg => zurg.coreRefs.some(core => mount.coreRefs.includes(core)));
  if (byCore.length > 0) return byCore;
  const byKind = all.filter(zurg => kind !== undefined && norm(zurg.config.key_type) === norm(kind));
  if (byKind.length > 0) return byKind;
  return mount.coreRefs.length === 0 ? all : [];
}

function norm(value: unknown): string {
  return String(value ?? '')
    .trim()
    .toLowerCase();
}
