// Examples of what a restore would do: the first ones of the manifest, and some of each action that occurs, so that a
// long unchanged beginning does not hide other actions.
import type { Action } from './decision.ts';

const EACH = 10;

interface Placed<Sample> {
  readonly index: number;
  readonly sample: Sample;
}

export class Samples<Sample> {
  readonly #limit: number;
  readonly #byAction = new Map<Action, Placed<Sample>[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `index` is that of the element in the manifest, and grows from call to call. */
  add(action: Action, index: number, sample: Sample): void {
    const known = this.#byAction.get(action) ?? [];
    this.#byAction.set(action, known);
    if (known.length < this.#limit) known.push({ index, sample });
  }

  /** The chosen examples, at most as many as the limit, in the order of the manifest. */
  chosen(): Sample[] {
    const lists = [...this.#byAction.values()];
    const each = Math.min(EACH, Math.floor(this.#limit / Math.max(1, lists.length)));
    const chosen = lists.flatMap(list => list.slice(0, each));
    const others = lists.flatMap(list => list.slice(each)).sort(byIndex);
    return [...chosen, ...others.slice(0, this.#limit - chosen.length)].sort(byIndex).map(({ sample }) => sample);
  }
}

function byIndex<Sample>(a: Placed<Sample>, b: Placed<Sample>): number {
  return a.index - b.index;
}
