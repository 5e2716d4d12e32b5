// The integrations of media managers: with the services that read them, with download clients, and with libraries.
import type { ContributionList, Host, NamedBlock } from '#core';
import type {} from '../integrations/contract.ts';
import type {} from '../process/contract.ts';
import type { Applications } from './applications.ts';
import type { ArrConsumer, ArrDownloadService } from './contract.ts';
import { entryOf } from './download-clients.ts';
import { setUpLibrary } from './library.ts';

interface Family {
  readonly applications: Applications;
  /** Config keys of the media managers. */
  readonly managers: readonly string[];
  readonly consumers: ContributionList<ArrConsumer>;
  readonly services: ContributionList<ArrDownloadService>;
  readonly libraryFor: (manager: NamedBlock) => string | undefined;
}

export function contributeIntegrations(
  host: Host,
  { applications, managers, consumers, services, libraryFor }: Family,
): void {
  const runs = ({ processName }: NamedBlock): boolean =>
    host.find('process.supervisor')?.get(processName)?.status === 'running';

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
  host.contribute('service.integration', 'arr-download-clients', {
    targets: managers,
    get providers() {
      return [...services.values()].map(({ configKey }) => configKey);
    },
    async apply(target, told) {
      const manager = await applications.of(target);
      const blocks = host.find('process.supervisor')?.blocks() ?? host.use('config.store').blocks();
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
}
