// What is set up inside a running application so that it knows another one.
import type { NamedBlock } from '#core';

/** How a service comes to know others: applied once both run and answer, and again until it succeeds. */
export interface Integration {
  /** Kinds of services that are set up. */
  readonly targets: readonly string[];
  /** Kinds that they are to know; a start of one of them calls for it as well. */
  readonly providers: readonly string[];
  /**
   * Sets up what is missing or differs; entries that people made stay. `told` hears of each change, in a few words.
   * Throws when a side does not answer: it is tried again. The target runs when it is called, and is healthy or has had
   * its time.
   */
  apply(target: NamedBlock, told: (change: string) => void): Promise<void>;
}

declare module '#core' {
  interface Contributions {
    'service.integration': Integration;
  }
}
