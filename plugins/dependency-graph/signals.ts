// The signal sources: which of them count, their order, and the time limits of third parties.
import { z } from 'zod';
import type { Contribution, ContributionList, Host, PointOptions } from '#core';
import { errorText } from '#kit/error-text';
import { functionSchema } from '#kit/function-schema';
import { shapeIssues } from '#kit/shape-issues';
import type { GraphSnapshot, Relation, SignalFindings, SignalResult, SignalSource, Strength } from './contract.ts';
import type { OwnSignal } from './own-signals.ts';
import type { Found } from './structure.ts';

const NAME = /^[a-z][a-z0-9_]{2,47}$/;
const THIRD_PARTY_LIMIT_MS = 250;
const MAX_RELATIONS = 2_000;
const FAILURES_BEFORE_PAUSE = 3;
const PAUSE_MS = 300_000;
const PAUSED = 'it failed again and again and is paused';

const findingsSchema = z.lazy(() =>
  z.object({
    relations: z.array(z.object({ dependency: z.string(), dependent: z.string() })).default([]),
    needs: z
      .array(
        z.object({
          dependent: z.string(),
          key: z.string(),
          members: z.array(z.string()),
          onlyAnnotates: z.boolean().default(false),
        }),
      )
      .default([]),
  }),
);

const signalPoint: PointOptions = {
  schema: z.looseObject({
    signal: z.string(),
    classification: z.enum(['hard', 'linkage']),
    strength: z.enum(['hard_runtime', 'hard_configured', 'soft_linkage']),
    description: z.string(),
    reads: z.array(z.string()).optional(),
    isHiddenUnused: z.boolean().optional(),
    find: functionSchema,
  }),
};

export interface SignalError {
  readonly signal: string;
  readonly error: string;
}

export interface KnownSignal {
  readonly source: SignalSource;
  /** null for the product's own signals. */
  readonly plugin: string | null;
  readonly strength: Strength;
  /** When relations contradict each other, the one with the higher rank is kept. */
  readonly rank: number;
}

export class Signals {
  readonly #host: Host;
  readonly #own: readonly OwnSignal[];
  readonly #contributed: ContributionList<SignalSource>;
  readonly #failures = new Map<string, { count: number; pausedUntilMs: number }>();
  readonly #refused = new Set<string>();

  constructor(host: Host, own: readonly OwnSignal[]) {
    this.#host = host;
    this.#own = own;
    this.#contributed = host.point('dependency.signal', signalPoint);
  }

  /** The signals that count at present, the product's own first. */
  known(): KnownSignal[] {
    const own = this.#own.flatMap(({ signal, rank }) => {
      // The key belongs to one plugin only, whereas anybody may write the name of a signal.
      const source = this.#contributed.get(signal)?.value;
      return source?.signal === signal ? [{ source, plugin: null, strength: source.strength, rank }] : [];
    });
    const taken = new Set(this.#own.map(({ signal }) => signal));
    const others = [...this.#contributed].filter(({ value }) => !own.some(({ source }) => source === value));
    return [...own, ...others.flatMap(row => this.#thirdParty(row, taken))];
  }

  /** Whether the contributed sources are still exactly these, from the same loads of their plugins. */
  isUnchanged(since: readonly SignalSource[]): boolean {
    const now = [...this.#contributed.values()];
    return now.length === since.length && now.every((source, index) => source === since[index]);
  }

  all(): readonly SignalSource[] {
    return [...this.#contributed.values()];
  }

  /**
   * Asks every source. A source that fails or is late is left out and reported; it is asked again from `staleMs` on, in
   * monotonic milliseconds.
   */
  async find(snapshot: GraphSnapshot): Promise<{ found: Found; errors: readonly SignalError[]; staleMs: number }> {
    const errors: SignalError[] = [];
    let deadline: number | undefined;
    const found: [SignalSource, SignalFindings][] = [];
    for (const { source, plugin } of this.known()) {
      const { signal } = source;
      const paused = this.#failures.get(signal)?.pausedUntilMs ?? 0;
      if (paused > performance.now()) {
        errors.push({ signal, error: PAUSED });
        continue;
      }
      try {
        if (plugin !== null) deadline ??= performance.now() + THIRD_PARTY_LIMIT_MS;
        const limitMs = deadline === undefined ? null : deadline - performance.now();
        const given = await within(source.find(snapshot), limitMs);
        const findings = plugin === null ? findingsOf(given) : checked(given);
        if (plugin !== null) this.#examine(signal, relationsIn(findings), snapshot);
        found.push([source, findings]);
        this.#failures.delete(signal);
      } catch (error) {
        errors.push({ signal, error: this.#failed(signal, error) });
      }
      // Yields between two sources, so that the event loop is not blocked.
      await new Promise(resolve => setImmediate(resolve));
    }
    const pausedUntilMs = errors.map(({ signal }) => this.#failures.get(signal)?.pausedUntilMs ?? 0);
    return { found, errors, staleMs: Math.min(Number.POSITIVE_INFINITY, ...pausedUntilMs) };
  }

  /** Throws when a third party gave too many relations; warns about those that are dropped later. */
  #examine(signal: string, relations: readonly Relation[], { entries }: GraphSnapshot): void {
    if (relations.length > MAX_RELATIONS) throw new Error(`it gave more than ${MAX_RELATIONS} relations`);
    const names = new Set(entries.map(entry => entry.processName));
    const isDropped = ({ dependency, dependent }: Relation): boolean =>
      dependency === dependent || !names.has(dependency) || !names.has(dependent);
    const count = relations.filter(isDropped).length;
    if (count > 0)
      this.#host.log.warn(
        `${count} relations of the dependency signal ${signal} are dropped: each needs two different processes`,
      );
  }

  #failed(signal: string, error: unknown): string {
    const count = (this.#failures.get(signal)?.count ?? 0) + 1;
    const isPaused = count >= FAILURES_BEFORE_PAUSE;
    this.#failures.set(signal, { count, pausedUntilMs: isPaused ? performance.now() + PAUSE_MS : 0 });
    this.#host.log.warn(`the dependency signal ${signal} failed${isPaused ? ' and is paused' : ''}`, error);
    const message = errorText(error);
    return isPaused ? `${PAUSED}: ${message}` : message;
  }

  /** `taken` has the names that are in use; the name of this signal is added. */
  #thirdParty({ owner: plugin, value: source }: Contribution<SignalSource>, taken: Set<string>): KnownSignal[] {
    const reason = refusalOf(plugin, source, taken);
    if (reason !== undefined) {
      const text = `the dependency signal ${source.signal} of ${plugin} is not used: ${reason}`;
      if (!this.#refused.has(text)) this.#host.log.error(text);
      this.#refused.add(text);
      return [];
    }
    taken.add(source.signal);
    const granted = (this.#host.use('config.store').get('dumb.dependency_graph.startup_blocking') ?? []) as string[];
    const isLowered = source.strength === 'hard_runtime' && !granted.includes(plugin);
    return [{ source, plugin, strength: isLowered ? 'hard_configured' : source.strength, rank: 0 }];
  }
}

/** Why the signal of a third party does not count; undefined when it does. */
function refusalOf(plugin: string, source: SignalSource, taken: ReadonlySet<string>): string | undefined {
  const { signal, classification, strength } = source;
  const folder = plugin.replaceAll('-', '_');
  const name = folder.replace(/^signal_/, '');
  const isOwn = [name, folder].some(begin => signal === begin || signal.startsWith(`${begin}_`));
  if (!NAME.test(signal) || !isOwn)
    return `its name must be ${name} or begin with ${name}_, in small letters, digits and underscores, 48 at most`;
  if (taken.has(signal)) return 'another signal has this name; give it a name of its own';
  if ((classification === 'linkage') !== (strength === 'soft_linkage'))
    return 'its strength must be soft_linkage when its classification is linkage, and a hard one when it is hard';
  return undefined;
}

/** All relations of a source, those within its needs included. */
function relationsIn({ relations = [], needs = [] }: SignalFindings): Relation[] {
  const needed = needs.flatMap(({ dependent, members }) => members.map(dependency => ({ dependency, dependent })));
  return [...relations, ...needed];
}

async function within<Value>(value: Value | Promise<Value>, limitMs: number | null): Promise<Value> {
  if (!(value instanceof Promise) || limitMs === null) return value;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('it took too long')), Math.max(limitMs, 0));
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}

function findingsOf(given: SignalResult): SignalFindings {
  return 'length' in given ? { relations: given } : given;
}

/** Third parties are not compiled against the contract, so their findings are checked. */
function checked(given: unknown): SignalFindings {
  const result = findingsSchema.safeParse(Array.isArray(given) ? { relations: given } : given);
  if (result.success) return result.data;
  const [issue] = shapeIssues(result.error);
  const place = issue?.path.map(String).join('.') ?? '';
  throw new Error(
    `its findings are not valid: ${place === '' ? '' : `${place}: `}${issue?.message ?? 'they do not fit'}`,
  );
}
