// Capability flags: true when, and only when, what they stand for is registered.

interface Flag {
  readonly plugin: string;
  readonly predicate: () => boolean;
}

export class Capabilities {
  readonly #flags = new Map<string, Set<Flag>>();

  add(plugin: string, name: string, predicate: () => boolean): () => void {
    const flags = this.#flags.get(name) ?? new Set<Flag>();
    this.#flags.set(name, flags);
    const other = [...flags].find(flag => flag.plugin !== plugin);
    if (other !== undefined) throw new Error(`capability '${name}' of ${plugin} is already owned by ${other.plugin}`);
    const flag = { plugin, predicate };
    flags.add(flag);
    return () => {
      flags.delete(flag);
      if (flags.size === 0) this.#flags.delete(name);
    };
  }

  /** All flags, sorted by name; a predicate that throws counts as false. */
  all(): Record<string, boolean> {
    return Object.fromEntries(
      [...this.#flags].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, flags]) => [name, [...flags].some(holds)]),
    );
  }

  of(plugin: string): string[] {
    return [...this.#flags]
      .filter(([, flags]) => [...flags].some(flag => flag.plugin === plugin))
      .map(([name]) => name);
  }
}

function holds(flag: Flag): boolean {
  try {
    return flag.predicate();
  } catch {
    return false;
  }
}
