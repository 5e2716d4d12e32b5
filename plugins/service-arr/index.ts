// The applications of the Arr family: access to their APIs, their integrations, and their library folders.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type { SetupContext } from '../setup/contract.ts';
import { Applications } from './applications.ts';
import { familyOf, managersOf } from './facts.ts';
import { HandedOver } from './handed-over.ts';
import { contributeIntegrations } from './integrations.ts';
import { leaveServer } from './leaving-server.ts';
import { libraryOf } from './library.ts';
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
    const libraryFor = (block: NamedBlock): string | undefined =>
      libraryOf(
        host.use('service.templates').linksOf(block.block),
        [...services.values()],
        applications.slugOf(block),
        section.parse(store.get(['dumb', 'integration_arr']) ?? {}).library_dir,
      );

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
    contributeIntegrations(host, { applications, managers, consumers, services, libraryFor });
  },
});
