// Warns once of each destination that is limited to a service which is not enabled, because no message about it comes.
import type { Host } from '#core';
import { enabledNames } from './config-wire.ts';
import type { NotificationSettings } from './settings.ts';

export class LostServices {
  readonly #host: Host;
  readonly #settings: () => NotificationSettings;
  /** Keys of destination and service that were warned of, as long as the service is not enabled. */
  #told = new Set<string>();

  constructor(host: Host, settings: () => NotificationSettings) {
    this.#host = host;
    this.#settings = settings;
  }

  look(): void {
    const limited = this.#settings().destinations.filter(({ service_names: names }) => names.length > 0);
    const enabled = new Set(limited.length === 0 ? [] : enabledNames(this.#host));
    const lost = new Set<string>();
    for (const { id, name, service_names: services } of limited) {
      for (const service of services) {
        if (enabled.has(service)) continue;
        const key = JSON.stringify([id, service]);
        lost.add(key);
        if (this.#told.has(key)) continue;
        this.#host.log.warn(
          `the destination '${name}' of notifications is limited to services of which '${service}' is not enabled; enable it, or choose services anew`,
        );
      }
    }
    this.#told = lost;
  }
}
