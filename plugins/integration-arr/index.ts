// Media managers that belong to a download service get it as a download client, and a folder of its library.
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../arr/contract.ts';
import type {} from '../integrations/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../service-setup/contract.ts';
import type {} from '../service-templates/contract.ts';
import { clientsOf } from './download-clients.ts';
import { libraryOf, setUpLibrary } from './library.ts';

const MANAGERS = ['sonarr', 'radarr', 'lidarr', 'whisparr'];
const PROVIDERS = ['decypharr', 'infinidysk', 'altmount'];

export default definePlugin({
  name: 'integration-arr',
  host: '^1',
  needs: ['arr', 'integrations'],
  after: ['service-setup'],
  config: zod =>
    zod.object({
      library_dir: zod.string().default('/mnt/debrid').describe('where the folders of the libraries lie'),
    }),

  setup(host, { library_dir: root }) {
    const slugOf = (block: NamedBlock): string => host.use('arr.applications').slugOf(block);
    // The folder must be there, and be the service's, before the application is told of it.
    for (const configKey of MANAGERS) {
      host.contribute('service.configure', `library-${configKey}`, {
        configKey,
        async configure({ block, makeDirectory }) {
          const library = libraryOf(host.use('service.templates').linksOf(block.block), slugOf(block), root);
          // It starts without its library all the same.
          if (library !== undefined)
            await makeDirectory(library).catch((error: unknown) => host.log.warn(`${library} cannot be made`, error));
        },
      });
    }
    host.contribute('service.integration', 'arr-download-clients', {
      targets: MANAGERS,
      providers: PROVIDERS,
      async apply(target, told) {
        const arr = host.use('arr.applications');
        const manager = await arr.of(target);
        const supervisor = host.find('process.supervisor');
        const blocks = supervisor?.blocks() ?? [];
        const providers = blocks
          .filter(({ configKey, block }) => block.enabled === true && manager.links.includes(configKey))
          .filter(({ processName }) => supervisor?.get(processName)?.status === 'running');
        const clients = await Promise.all(providers.map(provider => clientsOf(manager, provider, host)));
        await arr.ensureAll(manager, clients.flat(), told);
      },
    });
    host.contribute('service.integration', 'arr-library', {
      targets: MANAGERS,
      providers: [],
      async apply(target, told) {
        const manager = await host.use('arr.applications').of(target);
        const library = libraryOf(manager.links, slugOf(target), root);
        if (library !== undefined) await setUpLibrary(manager, library, host, told);
      },
    });
  },
});
