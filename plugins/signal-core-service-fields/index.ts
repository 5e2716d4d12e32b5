// Signal: a service needs those that its block names in `core_service` and `core_services`.
import { definePlugin } from '#core';
import type { GraphEntry, GraphSnapshot, Relation } from '../dependency-graph/contract.ts';

export default definePlugin({
  name: 'signal-core-service-fields',
  host: '^1',

  setup(host) {
    host.contribute('dependency.signal', 'core_service_fields', {
      signal: 'core_service_fields',
      classification: 'hard',
      strength: 'hard_configured',
      description: 'Services that core_service or core_services names',
      find: snapshot => ({
        relations: snapshot.entries.flatMap(entry => relationsOf(entry, snapshot)),
      }),
    });
  },
});

function relationsOf(entry: GraphEntry, snapshot: GraphSnapshot): Relation[] {
  return entry.coreRefs
    .filter(reference => reference !== entry.key)
    .flatMap(reference => snapshot.resolve(reference, entry))
    .map(core =>
      // A mount for a core service names that service, but the dependency is the reverse: the service needs the mount.
      snapshot.isScoped(entry.key) && snapshot.coreNeeds(core).includes(entry.key)
        ? { dependency: entry.processName, dependent: core.processName }
        : { dependency: core.processName, dependent: entry.processName },
    );
}
