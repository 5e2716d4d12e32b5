// Keyed lists that plugins fill and read. Each point has one owner, whose schema decides which values are listed.
import type { z } from 'zod';
import type { Contribution, ContributionList, PointOptions } from '../contract/host.ts';
import { membersOf, refuseMisspelt, requireDeadline, requireText } from '../kit/checked-argument.ts';
import { NameTaken } from '../kit/name-taken.ts';
import { Container } from './contain.ts';
import { blamedFor } from './invoke.ts';
import { misfitOf } from './misfit.ts';
import { misspeltIn } from './misspelt-members.ts';
import type { Scope } from './scope.ts';
import type { UsedName } from './unknown-seams.ts';

const DEADLINE_MS = 10_000;
const MEMBERS = membersOf<PointOptions>({
  schema: true,
  deadlineMs: true,
  answers: true,
  immediate: true,
  mayFail: true,
  flags: true,
});

interface Entry {
  readonly row: Contribution<unknown>;
  readonly scope: Scope;
}

export class ContributionRegistry {
  readonly #points = new Map<string, Point>();

  /** Throws when the key is taken or the value does not fit the point's schema. */
  add(scope: Scope, point: string, key: string, value: unknown): { value: unknown; withdraw: () => void } {
    return this.#point(point).add(scope, key, value);
  }

  /**
   * `owner` is undefined for a point of the host itself. `refused` receives the values that were contributed before the
   * point was declared and do not fit. The returned function withdraws the declaration.
   */
  declare(
    owner: Scope | undefined,
    name: string,
    options: PointOptions,
    refused: (scope: Scope, error: Error) => void,
  ): { list: ContributionList<unknown>; withdraw: () => void } {
    const point = this.#point(name);
    return { list: point, withdraw: point.declare(owner, options, refused) };
  }

  /** Returns the same list object at each call; it reflects later additions and withdrawals. */
  list(name: string): ContributionList<unknown> {
    const point = this.#point(name);
    point.isRead = true;
    return point;
  }

  /** The capability flags that a value of the point stands for. */
  flagsOf(point: string, value: unknown): Readonly<Record<string, boolean>> {
    return this.#points.get(point)?.flagsOf(value) ?? {};
  }

  /** `point:key` of everything that one plugin contributed. */
  of(plugin: string): string[] {
    return [...this.#points.values()].flatMap(point => point.of(plugin));
  }

  /** The points that have an owner or a reader. */
  names(): string[] {
    return [...this.#points.values()].filter(point => point.isUsed).map(({ name }) => name);
  }

  undeclared(): UsedName[] {
    const points = [...this.#points.values()].filter(point => !point.isUsed);
    return points.flatMap(point => [...point].map(({ owner }) => ({ plugin: owner, name: point.name })));
  }

  #point(name: string): Point {
    requireText(name, 'the name of a point');
    const known = this.#points.get(name) ?? new Point(name);
    this.#points.set(name, known);
    return known;
  }
}

interface Declaration {
  /** undefined for a point of the host itself. */
  readonly owner: Scope | undefined;
  readonly options: PointOptions;
}

class Point implements ContributionList<unknown> {
  readonly name: string;
  isRead = false;
  readonly #entries = new Map<string, Entry>();
  #declared: Declaration | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get size(): number {
    return this.#entries.size;
  }

  get isUsed(): boolean {
    return this.#declared !== undefined || this.isRead;
  }

  get(key: string): Contribution<unknown> | undefined {
    return this.#entries.get(key)?.row;
  }

  flagsOf(value: unknown): Readonly<Record<string, boolean>> {
    return this.#asOwner('its flags', () => this.#declared?.options.flags?.(value)) ?? {};
  }

  *values(): IterableIterator<unknown> {
    for (const { row } of this.#entries.values()) yield row.value;
  }

  *[Symbol.iterator](): IterableIterator<Contribution<unknown>> {
    for (const { row } of this.#entries.values()) yield row;
  }

  of(plugin: string): string[] {
    const found: string[] = [];
    for (const { row } of this.#entries.values()) if (row.owner === plugin) found.push(`${this.name}:${row.key}`);
    return found;
  }

  add(scope: Scope, key: string, original: unknown): { value: unknown; withdraw: () => void } {
    const { plugin } = scope;
    requireText(key, `the key of what ${plugin} contributes to ${this.name}`);
    const other = this.#entries.get(key);
    if (other !== undefined) throw new NameTaken(`${this.name} '${key}' of ${plugin}`, 'contributed', other.row.owner);
    const entry: Entry = { row: { owner: plugin, key, value: this.#contained(scope, key, original) }, scope };
    const refusal = this.#refusalOf(entry.row);
    if (refusal !== undefined) throw refusal;
    this.#entries.set(key, entry);
    return {
      value: entry.row.value,
      withdraw: () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    };
  }

  declare(owner: Scope | undefined, options: PointOptions, refused: (scope: Scope, error: Error) => void): () => void {
    if (this.#declared !== undefined)
      throw new NameTaken(`point '${this.name}' of ${nameOf(owner)}`, 'owned', nameOf(this.#declared.owner));
    refuseMisspelt(Object.keys(options), MEMBERS, `point '${this.name}' of ${nameOf(owner)}`);
    requireDeadline(options.deadlineMs, `point '${this.name}' of ${nameOf(owner)}`);
    this.#declared = { owner, options };
    for (const [key, { row, scope }] of [...this.#entries]) {
      const refusal = this.#refusalOf(row);
      if (refusal === undefined) continue;
      this.#entries.delete(key);
      refused(scope, refusal);
    }
    return () => {
      this.#declared = undefined;
    };
  }

  /** The owner's limits are looked up at each call, because the owner may be set up after its contributors. */
  #contained(scope: Scope, key: string, value: unknown): unknown {
    const options = (): PointOptions | undefined => this.#declared?.options;
    return new Container({
      scope,
      place: 'contribution',
      name: `${this.name} ${key}`,
      mayFail: () => options()?.mayFail === true,
      isImmediate: member => options()?.immediate?.includes(member) === true,
      deadlineMs: () => options()?.deadlineMs ?? DEADLINE_MS,
      check: (member, given) => {
        const { answers = {} } = options() ?? {};
        const schema = Object.hasOwn(answers, member) ? answers[member] : undefined;
        const misfit = this.#ask(schema, asked => misfitOf(asked, given));
        if (misfit === undefined) return undefined;
        return new Error(
          `${this.name} '${key}' of ${scope.plugin}: ${member} gives what the point cannot use: ${misfit}`,
        );
      },
    }).contain(value);
  }

  #refusalOf({ owner, key, value }: Contribution<unknown>): Error | undefined {
    const schema = this.#declared?.options.schema;
    const what = `${this.name} '${key}' of ${owner}`;
    const sentence = this.#ask(schema, asked => {
      const misspelt = misspeltIn(asked, value, what);
      const misfit = misspelt === undefined ? misfitOf(asked, value) : undefined;
      return misfit === undefined ? misspelt : `${what} is not what the point asks for: ${misfit}`;
    });
    return sentence === undefined ? undefined : new Error(sentence);
  }

  #ask<Fault>(schema: z.ZodType | undefined, look: (schema: z.ZodType) => Fault | undefined): Fault | undefined {
    return schema === undefined ? undefined : this.#asOwner('its schema', () => look(schema));
  }

  /**
   * Runs a function of the point's owner, such as its schema. An error of the function is a fault of the owner and
   * gives undefined, so that no contributor is refused because of it.
   */
  #asOwner<Value>(what: string, ask: () => Value): Value | undefined {
    const owner = this.#declared?.owner;
    if (owner === undefined) return ask();
    try {
      return owner.invoke({ place: 'callback', what: `point ${this.name}: ${what}`, deadlineMs: 0 }, ask);
    } catch (error) {
      // An error that the value itself throws, as an accessor may, is a fault of its contributor.
      if (blamedFor(error) !== owner) throw error;
      return undefined;
    }
  }
}

function nameOf(owner: Scope | undefined): string {
  return owner?.plugin ?? 'core';
}
