// A signal of the dependency graph: a service depends on the services that listen on the ports in its `wait_for_tcp`.
import { definePlugin } from '#core';
import type { GraphEntry, GraphSnapshot } from '../dependency-graph/contract.ts';

const LOCAL_HOSTS = new Set(['', '127.0.0.1', 'localhost', '0.0.0.0', '::1', '[::1]']);

export default definePlugin({
  name: 'signal-wait-for-tcp',
  host: '^1',
  config: zod => zod.object({ enabled: zod.boolean().default(false).describe('whether the signal counts') }),

  setup(host, { enabled }) {
    if (!enabled) return;
    host.contribute('dependency.signal', 'wait_for_tcp', {
      signal: 'wait_for_tcp',
      classification: 'hard',
      strength: 'hard_runtime',
      description: 'Local ports that must accept connections before it starts',
      find: snapshot => ({
        relations: snapshot.entries.flatMap(entry =>
          findListeners(entry, snapshot).map(({ processName }) => ({
            dependency: processName,
            dependent: entry.processName,
          })),
        ),
      }),
    });
  },
});

function findListeners(entry: GraphEntry, snapshot: GraphSnapshot): GraphEntry[] {
  const { wait_for_tcp: waits } = entry.config;
  return (Array.isArray(waits) ? waits : [waits]).flatMap(wait => {
    if (typeof wait !== 'object' || wait === null) return [];
    const { host = '', port } = wait as { readonly host?: unknown; readonly port?: unknown };
    const name = String(host).trim().toLowerCase();
    return LOCAL_HOSTS.has(name) ? snapshot.listenersOn(Number(port), entry) : snapshot.resolve(name, entry);
  });
}
