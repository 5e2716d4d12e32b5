// Capability flags: a flag is true only while what it stands for is registered.
import { requireFunction, requireText } from '../kit/checked-argument.ts';
import { NameTaken } from '../kit/name-taken.ts';
import type { Call, Owner } from '../kit/owner.ts';

interface Flag {
  readonly owner: Owner;
  readonly predicate: () => boolean;
  readonly call: Call;
}

export class Capabilities {
  readonly #flags = new Map<string, Set<Flag>>();
  /** All flags, sorted by name; undefined after a flag was added or withdrawn. */
  #sorted: readonly (readonly [string, ReadonlySet<Flag>])[] | undefined;
  /** The last known value of each flag, in the order of `#sorted`. */
  readonly #states: boolean[] = [];
  #last: Readonly<Record<string, boolean>> = Object.freeze({});

  add(owner: Owner, name: string, predicate: () => boolean): () => void {
    // A name that is no text would break the sorting of all flags.
    requireText(name, `the name of a capability of ${owner.plugin}`);
    requireFunction(predicate, `the predicate of the capability '${name}' of ${owner.plugin}`);
    const flags = this.#flags.get(name) ?? new Set<Flag>();
    this.#flags.set(name, flags);
    const other = [...flags].find(flag => flag.owner.plugin !== owner.plugin);
    if (other !== undefined)
      throw new NameTaken(`capability '${name}' of ${owner.plugin}`, 'owned', other.owner.plugin);
    const call: Call = { place: 'capability', what: `the predicate of ${name}`, deadlineMs: 0 };
    const flag = { owner, predicate, call };
    flags.add(flag);
    this.#sorted = undefined;
    return () => {
      flags.delete(flag);
      if (flags.size === 0) this.#flags.delete(name);
      this.#sorted = undefined;
    };
  }

  /** The plugin that declared the flag. */
  ownerOf(name: string): string | undefined {
    const [flag] = this.#flags.get(name) ?? [];
    return flag?.owner.plugin;
  }

  /**
   * All flags, sorted by name; the same object as before while none has changed. A predicate that throws or returns
   * anything but a boolean counts as false.
   */
  all(): Readonly<Record<string, boolean>> {
    let hasChanged = this.#sorted === undefined;
    // A predicate may register or withdraw flags.
    const sorted = this.#sorted ?? [...this.#flags].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#sorted = sorted;
    for (const [index, [, flags]] of sorted.entries()) {
      let isSet = false;
      for (const flag of flags) isSet ||= holds(flag);
      if (this.#states[index] === isSet) continue;
      this.#states[index] = isSet;
      hasChanged = true;
    }
    if (hasChanged)
      this.#last = Object.freeze(
        Object.fromEntries(sorted.map(([name], index) => [name, this.#states[index] === true])),
      );
    return this.#last;
  }

  of(plugin: string): string[] {
    return [...this.#flags]
      .filter(([, flags]) => [...flags].some(flag => flag.owner.plugin === plugin))
      .map(([name]) => name);
  }
}

function holds({ owner, predicate, call }: Flag): boolean {
  try {
    const given = owner.invoke(call, () => told(predicate()));
    if (typeof given === 'boolean') return given;
    owner.fault('capability', new Error(`${call.what} gives ${given} instead of true or false`));
  } catch {
    // `invoke` has counted and logged the error; a flag that cannot be determined is false.
  }
  return false;
}

/** What a predicate gives: a boolean, or the words for anything else. */
function told(answer: unknown): boolean | string {
  if (typeof answer === 'boolean') return answer;
  if (!(answer instanceof Promise)) return typeof answer;
  answer.catch(() => undefined);
  return 'a promise';
}
