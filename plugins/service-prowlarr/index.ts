// Prowlarr: registers every media manager in it, and the indexers that run on this machine.
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../integrations/contract.ts';
import type {} from '../process/contract.ts';
import type { ArrEntry, ArrInstance } from '../service-arr/contract.ts';

const TARGETS = ['prowlarr'];
/** Offsets of the subcategories within a category. Source: the Newznab categories. */
const CATEGORY_PARTS = [0, 10, 20, 30, 40, 45, 50, 60, 70, 80, 90];

export default definePlugin({
  name: 'service-prowlarr',
  host: '^1',
  needs: ['service-arr', 'integrations'],

  setup(host) {
    const services = host.contributions('arr.download-service');
    const indexers = host.contributions('arr.indexer');
    const workflows = () => [...services.values()].map(({ configKey }) => configKey);
    const enabled = (key: string): NamedBlock | undefined =>
      host
        .find('process.supervisor')
        ?.blocks()
        .find(({ configKey, block }) => configKey === key && block.enabled === true);
    host.contribute('service.integration', 'prowlarr-applications', {
      targets: TARGETS,
      providers: host.use('arr.applications').kinds,
      async apply(target, told) {
        const arr = host.use('arr.applications');
        const prowlarr = await arr.of(target);
        const supervisor = host.find('process.supervisor');
        const managers = (await arr.managers()).filter(
          ({ block }) => supervisor?.get(block.processName)?.status === 'running',
        );
        const entries = managers.map(manager => application(manager, prowlarr, workflows()));
        await arr.ensureAll(prowlarr, entries, told);
      },
    });
    host.contribute('service.integration', 'prowlarr-indexers', {
      targets: TARGETS,
      get providers() {
        const torrents = [...services.values()].filter(({ takesTorrents }) => takesTorrents === true);
        return [...indexers.values(), ...torrents].map(({ configKey }) => configKey);
      },
      async apply(target, told) {
        const users = [...services.values()]
          .filter(({ configKey, takesTorrents }) => takesTorrents === true && enabled(configKey) !== undefined)
          .map(({ configKey }) => configKey);
        const found = [...indexers.values()].flatMap(indexer => {
          const block = enabled(indexer.configKey);
          try {
            return block === undefined ? [] : [indexer.entry(block)];
          } catch {
            // The host has logged this fault of the contribution; the other indexers are added.
            return [];
          }
        });
        if (users.length === 0 || found.length === 0) return;
        const arr = host.use('arr.applications');
        const prowlarr = await arr.of(target);
        const [profile] = (await arr.ask(prowlarr, 'appprofile')) as readonly { readonly id: number }[];
        const initial = { enable: true, appProfileId: profile?.id };
        const entries = found.map(entry => ({ ...entry, list: 'indexer', initial, tags: users }));
        await arr.ensureAll(prowlarr, entries, told);
      },
    });
  },
});

/** The entry of a manager, tagged with its core services, so that indexers can be assigned by tag. */
function application(
  { kind, name, address, apiKey, links, facts }: ArrInstance,
  prowlarr: ArrInstance,
  workflows: readonly string[],
): ArrEntry {
  const implementation = kind.replace(/^./, letter => letter.toUpperCase());
  const categories = facts.categories.flatMap(first => CATEGORY_PARTS.map(part => first + part));
  return {
    list: 'applications',
    name: `${implementation} (${name})`,
    implementation,
    fields: {
      prowlarrUrl: prowlarr.address,
      baseUrl: address,
      apiKey,
      ...(categories.length > 0 ? { syncCategories: categories } : {}),
    },
    address: ['baseUrl'],
    initial: { syncLevel: 'fullSync' },
    tags: links.filter(link => workflows.includes(link)),
  };
}
