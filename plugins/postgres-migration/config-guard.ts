// Refuses changes to the blocks of a service that is being moved and of its server, except those of the migration
// itself.
import { type Host, Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';

type Values = Readonly<Record<string, unknown>>;

export class ConfigGuard {
  readonly #host: Host;
  /** Why each block is guarded, by process name. */
  readonly #guarded = new Map<string, string>();
  /** Keys that migrations are changing now, by process name: two may change the block of the server at once. */
  readonly #own = new Map<string, Set<readonly string[]>>();

  constructor(host: Host) {
    this.#host = host;
    host.tap('config.check', ({ before, after }) => this.#check(before, after));
  }

  async guard<Value>(processName: string, reason: string, work: () => Promise<Value>): Promise<Value> {
    this.#guarded.set(processName, reason);
    try {
      return await work();
    } finally {
      this.#guarded.delete(processName);
    }
  }

  /** Lets these keys of the block be changed while `update` runs. */
  async changing<Value>(processName: string, keys: readonly string[], update: () => Promise<Value>): Promise<Value> {
    const own = [...keys];
    const all = this.#own.get(processName) ?? new Set();
    this.#own.set(processName, all.add(own));
    try {
      return await update();
    } finally {
      all.delete(own);
      if (all.size === 0) this.#own.delete(processName);
    }
  }

  #check(before: Values, after: Values): void {
    for (const [processName, reason] of this.#guarded) {
      const block = this.#host.use('config.store').findBlock(processName);
      if (block === undefined) continue;
      const [old, young] = [valueAt(before, block.path), valueAt(after, block.path)];
      const own = [...(this.#own.get(processName) ?? [])].flat();
      const changed = [...new Set([...Object.keys(old), ...Object.keys(young)])].filter(
        key => !own.includes(key) && !deepEqual(old[key], young[key]),
      );
      if (changed.length > 0)
        throw new Problem(409, `${processName} is held: ${reason}; change ${changed[0]} when that is done`);
    }
  }
}

function valueAt(root: Values, path: readonly string[]): Values {
  const found = path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? (value as Values)[key] : undefined),
    root,
  );
  return typeof found === 'object' && found !== null ? (found as Values) : {};
}
