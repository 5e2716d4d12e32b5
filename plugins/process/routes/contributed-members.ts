// Members that other plugins add to answers; they are checked against their schemas, and left out when invalid or late.
import type { z } from 'zod';
import type { ContributionList, Host, NamedBlock } from '#core';
import { errorText } from '#kit/error-text';
import type { DetailMembers, EntryMembers } from '../contract.ts';
import { detailPoint, entryPoint } from '../points.ts';

type Members = Readonly<Record<string, unknown>>;
type Contribution = EntryMembers | DetailMembers;

export class ContributedMembers {
  readonly #host: Host;
  /** Names of members that no plugin may contribute. */
  readonly #own: ReadonlySet<string>;
  readonly #entries: ContributionList<EntryMembers>;
  readonly #details: ContributionList<DetailMembers>;
  /** The last logged fault of each contribution. */
  readonly #lastFaults = new Map<string, string>();

  constructor(host: Host, own: Iterable<string>) {
    this.#host = host;
    this.#own = new Set(own);
    this.#entries = host.point('process.entry', entryPoint);
    this.#details = host.point('process.detail', detailPoint);
  }

  /** A value that differs from earlier ones when entries may have changed; null when they may change at any time. */
  revision(): readonly unknown[] | null {
    const revisions: unknown[] = [];
    for (const { key, value } of this.#entries) {
      if (value.revision === undefined) return null;
      const { revision } = value;
      revisions.push(value, this.#guarded(key, () => revision()) ?? null);
    }
    return revisions;
  }

  ofEntry(block: NamedBlock): Members {
    const given = [...this.#entries].map(({ key, value }) =>
      this.#guarded(key, () => this.#checked(value, value.members(block))),
    );
    return Object.assign({}, ...given);
  }

  async ofDetail(block: NamedBlock, scope: string | undefined): Promise<Members> {
    const given = await Promise.all(
      [...this.#details].map(async ({ key, value }) => {
        try {
          return this.#checked(value, await value.members(block, { scope }));
        } catch (error) {
          this.#tell(key, error);
          return {};
        }
      }),
    );
    return Object.assign({}, ...given);
  }

  /** The schema extended by the members that are contributed at present, all of them optional. */
  describe<Schema extends z.ZodObject>(base: Schema, points: 'entry' | 'detail'): Schema {
    const contributions: Iterable<Contribution> =
      points === 'entry' ? this.#entries.values() : [...this.#entries.values(), ...this.#details.values()];
    const shape: Record<string, z.ZodType> = {};
    for (const { schema } of contributions) {
      for (const [name, member] of Object.entries(schema === undefined ? {} : partialOf(schema).shape))
        if (!this.#own.has(name) && !Object.hasOwn(base.shape, name)) shape[name] = member as z.ZodType;
    }
    return base.extend(shape) as unknown as Schema;
  }

  #checked({ schema }: Contribution, members: unknown): Members {
    if (typeof members !== 'object' || members === null || Array.isArray(members))
      throw new Error('its members are no object');
    const parsed = schema === undefined ? undefined : partialOf(schema).safeParse(members);
    if (parsed?.success === false) {
      const [issue] = parsed.error.issues;
      throw new Error(`its member ${issue?.path.join('.')} does not fit its schema: ${issue?.message}`);
    }
    const given = Object.entries(parsed?.data ?? members);
    const taken = given.find(([name]) => this.#own.has(name));
    if (taken !== undefined) throw new Error(`its member ${taken[0]} belongs to process control`);
    return Object.fromEntries(given);
  }

  #guarded<Value>(name: string, run: () => Value): Value | undefined {
    try {
      return run();
    } catch (error) {
      this.#tell(name, error);
      return undefined;
    }
  }

  /** Logs each fault once, because answers are requested often. */
  #tell(name: string, error: unknown): void {
    const message = errorText(error);
    if (this.#lastFaults.get(name) === message) return;
    this.#lastFaults.set(name, message);
    this.#host.log.error(`members of ${name} are left out of process entries`, error);
  }
}

const partials = new WeakMap<z.ZodObject, z.ZodObject>();

/** A contribution may leave out members that do not apply to a process. */
function partialOf(schema: z.ZodObject): z.ZodObject {
  const known = partials.get(schema) ?? schema.partial();
  partials.set(schema, known);
  return known;
}
