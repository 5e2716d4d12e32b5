// Integrations: settings made inside a running application so that it can use another one.
import type { NamedBlock } from '#core';

/** Makes one service use others: applied once both sides run and answer, and retried after a failure. */
export interface Integration {
  /** Config keys of the services in which settings are made. */
  readonly targets: readonly string[];
  /** Config keys of the services that the targets will use; their start triggers the integration too. */
  readonly providers: readonly string[];
  /**
   * Adds or corrects settings and keeps entries that users made. `told` receives a short text for each change. Throws
   * when an application does not answer, and is then called again. At each call the target runs; it is healthy, too,
   * unless it took too long to become so.
   */
  apply(target: NamedBlock, told: (change: string) => void): Promise<void>;
}

declare module '#core' {
  interface Contributions {
    'service.integration': Integration;
  }
}
