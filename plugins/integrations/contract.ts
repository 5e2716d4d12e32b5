// Integrations: settings made inside a running application so that it can use another one.
import type { NamedBlock } from '#core';

/** How a service comes to know others: applied once both run and answer, and again until it succeeds. */
export interface Integration {
  /** Config keys of the services in which settings are made. */
  readonly targets: readonly string[];
  /** Config keys of the services that the targets will use; their start triggers the integration too. */
  readonly providers: readonly string[];
  /**
   * Adds or corrects settings and keeps entries that users made. `told` receives a short text for each change. Throws
   * when an application does not answer, and is then called again. The target runs at each call, and is healthy unless
   * it did not become so in time.
   */
  apply(target: NamedBlock, told: (change: string) => void): Promise<void>;
}

declare module '#core' {
  interface Contributions {
    'service.integration': Integration;
  }
}
