// Sorts items topologically. Of each cycle the weakest relation is dropped and reported, unless the cycle is broken at
// another one, too: no relation is dropped that would fit.
import { Reachability } from './reachability.ts';

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
  /**
   * For each dropped relation, those of the cycle that was broken there; the `after` of each is the `before` of the next.
   */
  readonly cycles: readonly (readonly Relation[])[];
}

/**
 * A relation in the list of its `before`. Items are numbered by their place among the given members; `to` is the number
 * of its `after`.
 */
interface Step<Relation extends Precedence> {
  readonly relation: Relation;
  readonly to: number;
  isGone: boolean;
}

export function orderOf<Relation extends Precedence>(
  members: readonly string[],
  relations: readonly Relation[],
): Ordering<Relation> {
  const items = new Items(stepsOf(members, relations));
  const cycles = new Map<Relation, readonly Relation[]>();
  for (;;) {
    items.takeReady();
    if (items.taken.length === members.length) break;
    const cycle = items.findCycle();
    const weakest = cycle.reduce(weaker);
    cycles.set(
      weakest.relation,
      cycle.map(({ relation }) => relation),
    );
    items.drop(weakest);
  }
  const order = cycles.size === 0 ? items.taken : orderWithout(cycles, members, relations);
  return {
    order: order.map(item => members[item] ?? ''),
    dropped: [...cycles.keys()],
    cycles: [...cycles.values()],
  };
}

/**
 * The order that the relations give without the dropped ones. Those that contradict nothing any more are taken out of
 * `dropped`, the strongest first: all their cycles were broken at another relation, too.
 */
function orderWithout<Relation extends Precedence>(
  dropped: Map<Relation, unknown>,
  members: readonly string[],
  relations: readonly Relation[],
): readonly number[] {
  const kept = () =>
    stepsOf(
      members,
      relations.filter(one => !dropped.has(one)),
    );
  const steps = kept();
  // While a cycle was unbroken, items outside it were taken before those of it, wherever they were given.
  const order = takenInOrder(steps);
  const reachability = new Reachability(order, item => (steps[item] ?? []).map(({ to }) => to));
  const place = new Map(members.map((member, index) => [member, index]));
  const count = dropped.size;
  for (const relation of [...dropped.keys()].sort((one, other) => other.rank - one.rank)) {
    const [from = 0, to = 0] = [place.get(relation.before), place.get(relation.after)];
    if (reachability.has(to, from)) continue;
    reachability.add(from, to);
    dropped.delete(relation);
  }
  return dropped.size === count ? order : takenInOrder(kept());
}

function takenInOrder<Relation extends Precedence>(steps: readonly (readonly Step<Relation>[])[]): readonly number[] {
  const items = new Items(steps);
  items.takeReady();
  return items.taken;
}

/** The steps of each item, without those of unknown members and of members to themselves. */
function stepsOf<Relation extends Precedence>(
  members: readonly string[],
  relations: readonly Relation[],
): Step<Relation>[][] {
  const place = new Map(members.map((member, index) => [member, index]));
  const steps: Step<Relation>[][] = members.map(() => []);
  for (const relation of relations) {
    const [from, to] = [place.get(relation.before), place.get(relation.after)];
    if (from !== undefined && to !== undefined && from !== to) steps[from]?.push({ relation, to, isGone: false });
  }
  return steps;
}

/** Of equally weak relations the one that delays the earliest item. */
function weaker<Relation extends Precedence>(weak: Step<Relation>, step: Step<Relation>): Step<Relation> {
  const rank = step.relation.rank - weak.relation.rank;
  return rank < 0 || (rank === 0 && step.to < weak.to) ? step : weak;
}

/** The items by their numbers. One is ready when all that come before it are taken, or their relations dropped. */
class Items<Relation extends Precedence> {
  readonly taken: number[] = [];
  readonly #steps: readonly (readonly Step<Relation>[])[];
  /** For each item, how many steps lead to it from items that are left. */
  readonly #waiting: Int32Array;
  readonly #ready = new Heap();
  readonly #search: CycleSearch<Relation>;

  constructor(steps: readonly (readonly Step<Relation>[])[]) {
    this.#steps = steps;
    this.#waiting = new Int32Array(steps.length);
    this.#search = new CycleSearch(steps);
    for (const own of steps) for (const { to } of own) this.#waiting[to] = Number(this.#waiting[to]) + 1;
    for (const item of steps.keys()) if (this.#waiting[item] === 0) this.#ready.add(item);
  }

  takeReady(): void {
    for (let item = this.#ready.take(); item !== undefined; item = this.#ready.take()) {
      this.taken.push(item);
      this.#search.leaveOut(item);
      for (const step of this.#steps[item] ?? []) if (!step.isGone) this.#release(step);
    }
  }

  /** Any cycle among the items that are left, none of which is ready. */
  findCycle(): Step<Relation>[] {
    return this.#search.find();
  }

  drop(step: Step<Relation>): void {
    step.isGone = true;
    this.#release(step);
  }

  #release({ to }: Step<Relation>): void {
    const left = Number(this.#waiting[to]) - 1;
    this.#waiting[to] = left;
    if (left === 0) this.#ready.add(to);
  }
}

/**
 * Finds cycles among the items that are left. The result of one search holds for all later ones, because items and
 * relations are only removed.
 */
class CycleSearch<Relation extends Precedence> {
  readonly #steps: readonly (readonly Step<Relation>[])[];
  /** For each item, 1 when no cycle can be reached from it. */
  readonly #isOut: Uint8Array;
  /** For each item, how many of its first steps lead to no cycle. */
  readonly #spent: Int32Array;
  /** For each item, how many steps lead to it on the present trail; -1 when it is not on the trail. */
  readonly #depth: Int32Array;
  #start = 0;

  constructor(steps: readonly (readonly Step<Relation>[])[]) {
    this.#steps = steps;
    this.#isOut = new Uint8Array(steps.length);
    this.#spent = new Int32Array(steps.length);
    this.#depth = new Int32Array(steps.length).fill(-1);
  }

  leaveOut(item: number): void {
    this.#isOut[item] = 1;
  }

  /** Any cycle. One exists, because no item that is left is ready. */
  find(): Step<Relation>[] {
    for (; this.#start < this.#steps.length; this.#start += 1) {
      const cycle = this.#isOut[this.#start] === 1 ? undefined : this.#from(this.#start);
      if (cycle !== undefined) return cycle;
    }
    throw new Error('an order was sought among members that are in no cycle');
  }

  #from(start: number): Step<Relation>[] | undefined {
    const trail: Step<Relation>[] = [];
    this.#depth[start] = 0;
    for (let current = start; ; ) {
      const next = this.#next(current);
      if (next === undefined) {
        this.leaveOut(current);
        this.#depth[current] = -1;
        if (trail.pop() === undefined) return undefined;
        current = trail.at(-1)?.to ?? start;
        continue;
      }
      trail.push(next);
      const seen = Number(this.#depth[next.to]);
      if (seen < 0) {
        this.#depth[next.to] = trail.length;
        current = next.to;
        continue;
      }
      this.#depth[start] = -1;
      for (const { to } of trail) this.#depth[to] = -1;
      return trail.slice(seen);
    }
  }

  #next(item: number): Step<Relation> | undefined {
    const steps = this.#steps[item] ?? [];
    for (let spent = Number(this.#spent[item]); spent < steps.length; spent += 1) {
      const step = steps[spent];
      if (step === undefined || step.isGone || this.#isOut[step.to] === 1) continue;
      this.#spent[item] = spent;
      return step;
    }
    this.#spent[item] = steps.length;
    return undefined;
  }
}

/** A min-heap of the numbers of items. */
class Heap {
  readonly #items: number[] = [];

  add(item: number): void {
    let at = this.#items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#at(parent) <= this.#at(at)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  take(): number | undefined {
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
    return Number(this.#items[index]);
  }

  #swap(one: number, other: number): void {
    [this.#items[one], this.#items[other]] = [this.#at(other), this.#at(one)];
  }
}
