// Prowlarr learns of every media manager, and of the indexer that runs here.
import { definePlugin } from '#core';
import type { ArrEntry, ArrInstance } from '../arr/contract.ts';
import type {} from '../integrations/contract.ts';
import type {} from '../process/contract.ts';

const TARGETS = ['prowlarr'];
/** Services whose names tell which indexers are for whom. */
const WORKFLOWS = ['decypharr', 'infinidysk', 'altmount'];
/** Films, series and adult content, each with all that belongs to it. Source: the Newznab categories. */
const WHISPARR_CATEGORIES = [2_000, 5_000, 6_000].flatMap(first =>
  [0, 10, 20, 30, 40, 45, 50, 60, 70, 80, 90].map(part => first + part),
);

export default definePlugin({
  name: 'integration-prowlarr',
  host: '^1',
  needs: ['arr', 'integrations'],

  setup(host) {
    host.contribute('service.integration', 'prowlarr-applications', {
      targets: TARGETS,
      providers: ['sonarr', 'radarr', 'lidarr', 'whisparr'],
      async apply(target, told) {
        const arr = host.use('arr.applications');
        const prowlarr = await arr.of(target);
        const supervisor = host.find('process.supervisor');
        const managers = (await arr.managers()).filter(
          ({ block }) => supervisor?.get(block.processName)?.status === 'running',
        );
        const entries = managers.map(manager => application(manager, prowlarr));
        await arr.ensureAll(prowlarr, entries, told);
      },
    });
    host.contribute('service.integration', 'prowlarr-zilean', {
      targets: TARGETS,
      providers: ['zilean', 'decypharr'],
      async apply(target, told) {
        const blocks = host.find('process.supervisor')?.blocks() ?? [];
        const enabled = (key: string) =>
          blocks.find(({ configKey, block }) => configKey === key && block.enabled === true);
        const zilean = enabled('zilean');
        if (zilean === undefined || enabled('decypharr') === undefined) return;
        const arr = host.use('arr.applications');
        const prowlarr = await arr.of(target);
        const [profile] = (await arr.ask(prowlarr, 'appprofile')) as readonly { readonly id: number }[];
        const indexer: ArrEntry = {
          list: 'indexer',
          name: 'Zilean',
          implementation: 'Torznab',
          template: 'Generic Torznab',
          fields: { baseUrl: `http://127.0.0.1:${zilean.block.port}/torznab` },
          address: ['baseUrl'],
          initial: { enable: true, appProfileId: profile?.id },
          tags: ['decypharr'],
        };
        await arr.ensureAll(prowlarr, [indexer], told);
      },
    });
  },
});

/** Tagged with the services that the manager belongs to. */
function application({ kind, name, address, apiKey, links }: ArrInstance, prowlarr: ArrInstance): ArrEntry {
  const implementation = kind.replace(/^./, letter => letter.toUpperCase());
  return {
    list: 'applications',
    name: `${implementation} (${name})`,
    implementation,
    fields: {
      prowlarrUrl: prowlarr.address,
      baseUrl: address,
      apiKey,
      ...(kind === 'whisparr' ? { syncCategories: WHISPARR_CATEGORIES } : {}),
    },
    address: ['baseUrl'],
    initial: { syncLevel: 'fullSync' },
    tags: links.filter(link => WORKFLOWS.includes(link)),
  };
}
