// Sorts items topologically. Of each cycle the weakest relation is dropped and reported.

/** `before` comes before `after`. When relations contradict each other, the one with the higher rank is kept. */
export interface Precedence {
  readonly before: string;
  readonly after: string;
  readonly rank: number;
}

export interface Ordering<Relation extends Precedence> {
  /** Stable: where relations leave a choice, the given order is kept. */
  readonly order: readonly string[];
  readonly dropped: readonly Relation[];
  /** The relations of each cycle that was broken; the `after` of each is the `before` of the next. */
  readonly cycles: readonly (readonly Relation[])[];
}

export function orderOf<Relation extends Precedence>(
  members: readonly string[],
  relations: readonly Relation[],
): Ordering<Relation> {
  const place = new Map(members.map((member, index) => [member, index]));
  const after = new Map<string, Relation[]>();
  const waiting = new Map<string, number>();
  const gone = new Set<Relation>();
  for (const relation of relations) {
    if (!place.has(relation.before) || !place.has(relation.after) || relation.before === relation.after) continue;
    after.set(relation.before, [...(after.get(relation.before) ?? []), relation]);
    waiting.set(relation.after, (waiting.get(relation.after) ?? 0) + 1);
  }
  const order: string[] = [];
  const cycles: (readonly Relation[])[] = [];
  const done = new Set<string>();
  const ready = new Heap(member => place.get(member) ?? 0);
  const release = (relation: Relation): void => {
    const left = (waiting.get(relation.after) ?? 0) - 1;
    waiting.set(relation.after, left);
    if (left === 0) ready.add(relation.after);
  };
  for (const member of members) if ((waiting.get(member) ?? 0) === 0) ready.add(member);
  for (;;) {
    for (let member = ready.take(); member !== undefined; member = ready.take()) {
      order.push(member);
      done.add(member);
      for (const relation of after.get(member) ?? []) if (!gone.has(relation)) release(relation);
    }
    if (order.length === members.length) return { order, dropped: [...gone], cycles };
    const cycle = findCycle(members, done, after, gone);
    // Of equally weak relations, drops the one that delays the earliest item.
    const weakest = cycle.reduce((weak, relation) => {
      const later = (place.get(relation.after) ?? 0) - (place.get(weak.after) ?? 0);
      return relation.rank < weak.rank || (relation.rank === weak.rank && later < 0) ? relation : weak;
    });
    cycles.push(cycle);
    gone.add(weakest);
    release(weakest);
  }
}

/** Any cycle among the remaining items. One exists, because none of them is ready. */
function findCycle<Relation extends Precedence>(
  members: readonly string[],
  done: ReadonlySet<string>,
  after: ReadonlyMap<string, readonly Relation[]>,
  gone: ReadonlySet<Relation>,
): Relation[] {
  const exhausted = new Set<string>();
  for (const start of members) {
    if (done.has(start) || exhausted.has(start)) continue;
    const trail: Relation[] = [];
    const depth = new Map([[start, 0]]);
    let current = start;
    for (;;) {
      const next = (after.get(current) ?? []).find(
        relation => !gone.has(relation) && !done.has(relation.after) && !exhausted.has(relation.after),
      );
      if (next === undefined) {
        exhausted.add(current);
        depth.delete(current);
        const back = trail.pop();
        if (back === undefined) break;
        current = back.before;
        continue;
      }
      trail.push(next);
      const seen = depth.get(next.after);
      if (seen !== undefined) return trail.slice(seen);
      depth.set(next.after, trail.length);
      current = next.after;
    }
  }
  throw new Error('an order was sought among members that are in no cycle');
}

/** A min-heap of items by their place in the given order. */
class Heap {
  readonly #rank: (member: string) => number;
  readonly #items: string[] = [];

  constructor(rank: (member: string) => number) {
    this.#rank = rank;
  }

  add(member: string): void {
    let at = this.#items.push(member) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#at(parent) <= this.#at(at)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  take(): string | undefined {
    const [first] = this.#items;
    const last = this.#items.pop();
    if (first === undefined || last === undefined || this.#items.length === 0) return first;
    this.#items[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const smaller = right < this.#items.length && this.#at(right) < this.#at(left) ? right : left;
      if (left >= this.#items.length || this.#at(at) <= this.#at(smaller)) return first;
      this.#swap(at, smaller);
      at = smaller;
    }
  }

  #at(index: number): number {
    return this.#rank(this.#items[index] ?? '');
  }

  #swap(one: number, other: number): void {
    [this.#items[one], this.#items[other]] = [this.#items[other] ?? '', this.#items[one] ?? ''];
  }
}
