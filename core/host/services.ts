// One implementation each of the things that plugins call across folders.

interface Provision {
  readonly plugin: string;
  readonly service: unknown;
}

export class ServiceRegistry {
  readonly #provisions = new Map<string, Provision>();

  provide(plugin: string, name: string, service: unknown): () => void {
    const other = this.#provisions.get(name);
    if (other !== undefined) throw new Error(`service '${name}' of ${plugin} is already provided by ${other.plugin}`);
    this.#provisions.set(name, { plugin, service });
    return () => this.#provisions.delete(name);
  }

  find(name: string): unknown {
    return this.#provisions.get(name)?.service;
  }

  of(plugin: string): string[] {
    return [...this.#provisions].filter(([, provision]) => provision.plugin === plugin).map(([name]) => name);
  }
}
