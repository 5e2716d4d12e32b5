// Signal: a core service needs the components that its kind always has.
import { definePlugin } from '#core';
import type { GraphEntry, GraphSnapshot, KeyNeed } from '../dependency-graph/contract.ts';

export default definePlugin({
  name: 'signal-core-service-map',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'core_service_map', {
      signal: 'core_service_map',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'Components that this kind of core service always needs',
      find: snapshot => ({
        needs: snapshot.entries.flatMap(entry => needsOf(entry, snapshot)),
      }),
    });
  },
});

function needsOf(entry: GraphEntry, snapshot: GraphSnapshot): KeyNeed[] {
  return snapshot.coreNeeds(entry).map(key => {
    const all = snapshot.entriesOf(key);
    const members = snapshot.isScoped(key) ? all.filter(other => other.coreRefs.includes(entry.key)) : all;
    return { dependent: entry.processName, key, members: members.map(member => member.processName) };
  });
}
