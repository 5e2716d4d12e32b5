// The applications of the Arr family: access to their APIs, their integrations, and their library folders.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../integrations/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type { SetupContext } from '../setup/contract.ts';
import { Applications } from './applications.ts';
import { entryOf } from './download-clients.ts';
import { familyOf, managersOf } from './facts.ts';
import { HandedOver } from './handed-over.ts';
import { leaveServer } from './leaving-server.ts';
import { libraryOf, setUpLibrary } from './library.ts';
import { consumerPoint, downloadServicePoint, indexerPoint } from './points.ts';

/** Longer than a restart together with the answers of all applications in one call. */
const ASK_DEADLINE_MS = 900_000;

const section = z.object({
  library_dir: z.string().default('/mnt/debrid').describe('where the folders of the libraries lie'),
});

export default definePlugin({
  name: 'service-arr',
  host: '^1',
  after: ['config-files', 'services', 'setup'],

  setup(host) {
    const family = familyOf(host.find('service.templates'), host.log);
    const managers = managersOf(family);
    const handedOver = new HandedOver(path.join(host.paths.configDir, 'handed-over.json'), host.log);
    const applications = new Applications(host, { family, handedOver });
    // An application that does not answer is an expected failure, which callers retry.
    host.provide('arr.applications', applications, { deadlineMs: ASK_DEADLINE_MS, mayFail: true });
    host.contribute('config.schema', 'arr-library', { path: ['dumb', 'integration_arr'], schema: section });
    const consumers = host.point('arr.consumer', consumerPoint);
    const services = host.point('arr.download-service', downloadServicePoint);
    host.point('arr.indexer', indexerPoint);
    const store = host.use('config.store');
    const runs = ({ processName }: NamedBlock): boolean =>
      host.find('process.supervisor')?.get(processName)?.status === 'running';
    const libraryFor = (block: NamedBlock): string | undefined =>
      libraryOf(
        host.use('service.templates').linksOf(block.block),
        [...services.values()],
        applications.slugOf(block),
        section.parse(store.get(['dumb', 'integration_arr']) ?? {}).library_dir,
      );

    // A manager creates its key at its first start, which may come after the start of services that need it.
    host.contribute('service.integration', 'arr-consumers', {
      get targets() {
        return [...consumers.values()].map(({ configKey }) => configKey);
      },
      providers: managers,
      async apply(target, told) {
        for (const { configKey, managers: known } of consumers.values())
          if (configKey === target.configKey) await applications.renew(target, await known(target), told);
      },
    });
    // The folder must exist and belong to the service before the application is configured to use it.
    for (const configKey of managers) {
      host.contribute('service.configure', `library-${configKey}`, {
        configKey,
        async configure({ block, makeDirectory }) {
          const library = libraryFor(block);
          // A service can start without its library, so this failure is only a warning.
          if (library !== undefined)
            await makeDirectory(library).catch((error: unknown) => host.log.warn(`${library} cannot be made`, error));
        },
      });
    }
    for (const [configKey, { leaving }] of family) {
      if (leaving === undefined) continue;
      const configure = (context: SetupContext) => leaveServer(host, handedOver, context, leaving);
      host.contribute('service.configure', `server-${configKey}`, { configKey, configure });
    }
    host.contribute('service.integration', 'arr-download-clients', {
      targets: managers,
      get providers() {
        return [...services.values()].map(({ configKey }) => configKey);
      },
      async apply(target, told) {
        const manager = await applications.of(target);
        const blocks = host.find('process.supervisor')?.blocks() ?? store.blocks();
        const linked = blocks
          .filter(({ configKey, block }) => block.enabled === true && manager.links.includes(configKey))
          .filter(runs);
        const clients = await Promise.all(
          linked.flatMap(block =>
            [...services.values()]
              .filter(({ configKey }) => configKey === block.configKey)
              .map(service => service.clients(manager, block)),
          ),
        );
        await applications.ensureAll(manager, clients.flat().map(entryOf), told);
      },
    });
    host.contribute('service.integration', 'arr-library', {
      targets: managers,
      providers: [],
      async apply(target, told) {
        const library = libraryFor(target);
        const manager = await applications.of(target);
        if (library !== undefined) await setUpLibrary(manager, library, host, told);
      },
    });
  },
});
