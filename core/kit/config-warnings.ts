// Warnings of one kind about the configuration: a save is answered with those that it brings, a review lists them all,
// and the log has each once.
import type { ConfigCandidate, ConfigObject, ConfigReview } from '../contract/config.ts';
import type { Host } from '../contract/host.ts';

export class ConfigWarnings {
  readonly #host: Pick<Host, 'log' | 'use'>;
  readonly #find: (root: Readonly<ConfigObject>) => readonly string[];
  readonly #told = new Set<string>();

  /** `find` gives the warnings about a configuration, one sentence each. */
  constructor(host: Pick<Host, 'log' | 'use'>, find: (root: Readonly<ConfigObject>) => readonly string[]) {
    this.#host = host;
    this.#find = find;
  }

  /** For `config.check`. */
  check({ before, after, warnings }: ConfigCandidate): void {
    const known = new Set(this.#find(before));
    warnings.push(...this.#find(after).filter(warning => !known.has(warning)));
  }

  /** For `config.review`. */
  review({ problems }: ConfigReview): void {
    problems.push(...this.#present());
  }

  /** For `host.ready` and `config.changed`. */
  tell(): void {
    for (const warning of this.#present()) {
      if (!this.#told.has(warning)) this.#host.log.warn(warning);
      this.#told.add(warning);
    }
  }

  #present(): readonly string[] {
    return this.#find(this.#host.use('config.store').root());
  }
}
