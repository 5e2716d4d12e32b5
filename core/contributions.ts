// Keyed lists that plugins fill and read; a key is unique within its point.

interface Item {
  readonly plugin: string;
  readonly value: unknown;
}

export class Contributions {
  readonly #points = new Map<string, Map<string, Item>>();
  readonly #read = new Set<string>();

  add(plugin: string, point: string, key: string, value: unknown): () => void {
    const items = this.#points.get(point) ?? new Map<string, Item>();
    this.#points.set(point, items);
    const other = items.get(key);
    if (other !== undefined)
      throw new Error(`${point} '${key}' of ${plugin} is already contributed by ${other.plugin}`);
    items.set(key, { plugin, value });
    return () => items.delete(key);
  }

  list(point: string): ReadonlyMap<string, unknown> {
    this.#read.add(point);
    return new Map([...(this.#points.get(point) ?? [])].map(([key, item]) => [key, item.value]));
  }

  /** `point:key` of everything one plugin contributed. */
  of(plugin: string): string[] {
    return [...this.#points].flatMap(([point, items]) =>
      [...items].filter(([, item]) => item.plugin === plugin).map(([key]) => `${point}:${key}`),
    );
  }

  /** Points that hold something and that nobody has asked for: left behind by a trimmed build, harmless. */
  unread(): string[] {
    return [...this.#points]
      .filter(([point, items]) => items.size > 0 && !this.#read.has(point))
      .map(([point]) => point);
  }
}
