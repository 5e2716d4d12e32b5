// The defaults that one contribution gives to blocks for its own keys. Where they fail or do not fit its schema, the
// blocks have none, and the fault is reported once for as long as it stays the same.
import type { z } from 'zod';
import type { BlockKeys, ConfigObject, NamedBlock } from '../contract/config.ts';
import { errorText } from '../kit/error-text.ts';
import type { Call, Owner } from '../kit/owner.ts';
import { issuesOf } from './owned-schema.ts';

export class BlockDefaults {
  readonly #keys: BlockKeys;
  readonly #owner: Owner;
  /** The blocks for which the plugin's code failed last; it is not called for the same ones again. */
  #failedFor: readonly NamedBlock[] | undefined;
  /** What is wrong with the defaults that were given last. */
  #fault: string | undefined;
  /** For each block, what is wrong with the keys of the defaults that it was given last. */
  readonly #looked = new WeakMap<
    ConfigObject,
    { readonly given: string; readonly wrong: ReadonlyMap<string, string> }
  >();

  constructor(keys: BlockKeys, owner: Owner) {
    this.#keys = keys;
    this.#owner = owner;
  }

  /** One sentence that names the plugin; undefined where nothing is wrong. */
  get fault(): string | undefined {
    return this.#fault === undefined ? undefined : `plugin ${this.#owner.plugin}: ${this.#fault}`;
  }

  /** For each block, the defaults of the keys that it lacks. */
  lackedBy(blocks: readonly NamedBlock[]): Map<NamedBlock, ConfigObject> {
    const added = new Map<NamedBlock, ConfigObject>();
    const { appliesTo, defaults } = this.#keys;
    if (defaults === undefined) return added;
    const concerned = blocks.filter(({ configKey }) => appliesTo?.includes(configKey) ?? true);
    let misfit: string | undefined;
    for (const [index, values] of this.#askFor(concerned).entries()) {
      const named = concerned[index];
      if (named === undefined) continue;
      const lacking = Object.entries(values).filter(([key]) => !Object.hasOwn(named.block, key));
      if (lacking.length === 0) continue;
      const wrong = this.#wrongWith(named, Object.fromEntries(lacking));
      const fitting = lacking.filter(([key]) => !wrong.has(key));
      if (fitting.length > 0) added.set(named, Object.fromEntries(fitting));
      for (const [key, message] of wrong)
        misfit ??= `its default of '${key}' for ${named.processName} is not used, because it does not fit its schema: ${message}`;
    }
    if (this.#failedFor === undefined) this.#tell(misfit);
    return added;
  }

  #askFor(concerned: readonly NamedBlock[]): readonly ConfigObject[] {
    const failedFor = this.#failedFor;
    if (failedFor?.length === concerned.length && failedFor.every((block, index) => block === concerned[index]))
      return [];
    const call: Call = {
      place: 'contribution',
      what: 'its defaults of blocks',
      deadlineMs: Number.POSITIVE_INFINITY,
      toldByCaller: true,
    };
    try {
      const defaults = this.#owner.invoke(call, () => this.#keys.defaults?.(concerned));
      this.#failedFor = undefined;
      return defaults ?? [];
    } catch (error) {
      this.#failedFor = concerned;
      this.#tell(`its defaults of blocks fail, so these have none: ${errorText(error)}`, error);
      return [];
    }
  }

  /**
   * Reports a fault once, although the configuration is made anew several times during a start and with each change.
   */
  #tell(fault: string | undefined, cause?: unknown): void {
    if (fault !== undefined && this.#fault !== fault) this.#owner.fault('contribution', new Error(fault, { cause }));
    this.#fault = fault;
  }

  /** What is wrong with each key that a block is to be given, by the schema of that key alone. */
  #wrongWith({ block, path }: NamedBlock, values: ConfigObject): ReadonlyMap<string, string> {
    const given = JSON.stringify(values);
    const known = this.#looked.get(block);
    if (known?.given === given) return known.wrong;
    const { schema } = this.#keys;
    const members = 'shape' in schema ? (schema.shape as Readonly<Record<string, z.ZodType>>) : {};
    const wrong = new Map<string, string>();
    for (const [key, value] of Object.entries(values)) {
      const member = members[key];
      if (member === undefined) continue;
      const found = issuesOf({ schema: member, owner: this.#owner }, value, [...path, key]);
      const issue = found.find(({ isFault }) => !isFault);
      if (issue !== undefined) wrong.set(key, issue.message);
    }
    this.#looked.set(block, { given, wrong });
    return wrong;
  }
}
