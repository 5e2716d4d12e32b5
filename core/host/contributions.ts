// Keyed lists that plugins fill and read; a key is unique within its point.

interface Point {
  readonly values: Map<string, unknown>;
  readonly owners: Map<string, string>;
}

export class ContributionRegistry {
  readonly #points = new Map<string, Point>();
  readonly #read = new Set<string>();

  add(plugin: string, point: string, key: string, value: unknown): () => void {
    const { values, owners } = this.#point(point);
    const owner = owners.get(key);
    if (owner !== undefined) throw new Error(`${point} '${key}' of ${plugin} is already contributed by ${owner}`);
    values.set(key, value);
    owners.set(key, plugin);
    return () => {
      values.delete(key);
      owners.delete(key);
    };
  }

  /** The same map at each call; it follows what is added and withdrawn. */
  list(point: string): ReadonlyMap<string, unknown> {
    this.#read.add(point);
    return this.#point(point).values;
  }

  /** `point:key` of everything one plugin contributed. */
  of(plugin: string): string[] {
    return [...this.#points].flatMap(([point, { owners }]) =>
      [...owners].filter(([, owner]) => owner === plugin).map(([key]) => `${point}:${key}`),
    );
  }

  /** Points that hold something and that nobody has asked for: left behind by a trimmed build, harmless. */
  unread(): string[] {
    return [...this.#points]
      .filter(([point, { values }]) => values.size > 0 && !this.#read.has(point))
      .map(([point]) => point);
  }

  #point(name: string): Point {
    const known = this.#points.get(name) ?? { values: new Map(), owners: new Map() };
    this.#points.set(name, known);
    return known;
  }
}
