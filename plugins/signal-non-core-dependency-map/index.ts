// Signal: services other than core services need others by their kind, such as a web frontend its backend.
import { definePlugin } from '#core';

export default definePlugin({
  name: 'signal-non-core-dependency-map',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'non_core_dependency_map', {
      signal: 'non_core_dependency_map',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'What a service needs because of its kind',
      find: snapshot => ({
        needs: snapshot.entries.flatMap(({ key, processName: dependent }) =>
          (host.find('service.templates')?.get(key)?.relations?.nonCore ?? []).map(needed => ({
            dependent,
            key: needed,
            members: snapshot.entriesOf(needed).map(entry => entry.processName),
          })),
        ),
      }),
    });
  },
});
