// Hooks between plugins, on tapable: every tap runs as code of its plugin, within a deadline, and is removed with it.
import { AsyncParallelHook, AsyncSeriesHook, AsyncSeriesWaterfallHook } from 'tapable';
import type { HookKind, HookOptions, TapOptions } from '../contract/host.ts';
import { Problem } from '../contract/problem.ts';
import { membersOf, refuseMisspelt, requireDeadline, requireFunction, requireText } from '../kit/checked-argument.ts';
import { NameTaken } from '../kit/name-taken.ts';
import type { Call } from '../kit/owner.ts';
import { crossing } from './contain.ts';
import { blamedFor, LATE_CODE } from './invoke.ts';
import { misfitOf } from './misfit.ts';
import type { Scope } from './scope.ts';
import type { UsedName } from './unknown-seams.ts';

type AnyHook =
  | AsyncSeriesHook<unknown[]>
  | AsyncParallelHook<unknown[]>
  | AsyncSeriesWaterfallHook<[unknown, ...unknown[]]>;
type AnyTap = (...args: unknown[]) => unknown;

interface Tap {
  readonly scope: Scope;
  readonly fn: AnyTap;
  readonly options: TapOptions;
}

interface Declared {
  readonly owner: string;
  /** undefined for a hook of the host itself. */
  readonly scope: Scope | undefined;
  readonly name: string;
  readonly kind: HookKind;
  readonly options: HookOptions;
  readonly hook: AnyHook;
  /** The places for taps. An empty place is used again before the hook gets another. */
  readonly places: TapPlace[];
  /** How often a guarded tap has failed or was late. */
  failures: number;
}

/**
 * A place for a tap. tapable calls it and cannot remove it, so it stays on the hook, empty after its tap is removed.
 */
interface TapPlace {
  readonly plugin: string;
  readonly stage: number;
  tap: Tap | undefined;
}

const ARGUMENTS: [string, string, string] = ['first', 'second', 'third'];
const HOOK_MEMBERS = membersOf<HookOptions>({ guarded: true, deadlineMs: true, schema: true });
const TAP_MEMBERS = membersOf<TapOptions>({ stage: true, deadlineMs: true });
/** The deadline of a tap for which neither the tap nor the hook sets one. */
const DEADLINE_MS = 10_000;

export class HookRegistry {
  readonly #declared = new Map<string, Declared>();
  readonly #taps = new Map<string, Set<Tap>>();

  /** `scope` is undefined for a hook of the host itself. */
  declare(
    scope: Scope | undefined,
    name: string,
    kind: HookKind,
    options: HookOptions = {},
  ): { hook: AnyHook; withdraw: () => void } {
    const owner = scope?.plugin ?? 'core';
    requireText(name, `the name of a hook of ${owner}`);
    refuseMisspelt(Object.keys(options), HOOK_MEMBERS, `hook '${name}' of ${owner}`);
    requireDeadline(options.deadlineMs, `hook '${name}' of ${owner}`);
    const other = this.#declared.get(name);
    if (other !== undefined) throw new NameTaken(`hook '${name}' of ${owner}`, 'owned', other.owner);
    const declared: Declared = {
      owner,
      scope,
      name,
      kind,
      options,
      hook: createHook(name, kind),
      places: [],
      failures: 0,
    };
    this.#declared.set(name, declared);
    for (const tap of this.#taps.get(name) ?? []) attach(declared, tap);
    return { hook: declared.hook, withdraw: () => this.#declared.delete(name) };
  }

  /** A hook may be tapped before its owner declares it. */
  tap(scope: Scope, name: string, fn: AnyTap, options: TapOptions = {}): () => void {
    const what = `the tap of ${scope.plugin} on ${name}`;
    requireFunction(fn, what);
    refuseMisspelt(Object.keys(options), TAP_MEMBERS, what);
    requireDeadline(options.deadlineMs, what);
    const tap: Tap = { scope, fn, options };
    const taps = this.#taps.get(name) ?? new Set<Tap>();
    this.#taps.set(name, taps);
    taps.add(tap);
    const declared = this.#declared.get(name);
    if (declared !== undefined) attach(declared, tap);
    return () => {
      taps.delete(tap);
      const place = this.#declared.get(name)?.places.find(place => place.tap === tap);
      if (place !== undefined) place.tap = undefined;
    };
  }

  names(): string[] {
    return [...this.#declared.keys()];
  }

  undeclared(): UsedName[] {
    const taps = [...this.#taps].filter(([name]) => !this.#declared.has(name));
    return taps.flatMap(([name, found]) => [...found].map(({ scope }) => ({ plugin: scope.plugin, name })));
  }

  /** How often guarded taps of a hook have failed, for an owner that goes on, but reports no success. */
  failuresOf(name: string): number {
    return this.#declared.get(name)?.failures ?? 0;
  }

  /** Runs only one plugin's taps of a hook, for a plugin that was loaded after the hook had been called. */
  async replay(scope: Scope, name: string): Promise<void> {
    const declared = this.#declared.get(name);
    const taps = [...(this.#taps.get(name) ?? [])].filter(tap => tap.scope === scope);
    if (declared !== undefined) await Promise.all(taps.map(tap => runTap(declared, tap, [])));
  }
}

function createHook(name: string, kind: HookKind): AnyHook {
  switch (kind) {
    case 'waterfall':
      return new AsyncSeriesWaterfallHook<[unknown, ...unknown[]]>(ARGUMENTS);
    case 'series':
      return new AsyncSeriesHook<unknown[]>(ARGUMENTS as never);
    case 'parallel':
      return new AsyncParallelHook<unknown[]>(ARGUMENTS as never);
    default:
      throw new Error(`hook '${name}' is of the kind '${String(kind)}'; there are series, parallel and waterfall`);
  }
}

function attach(declared: Declared, tap: Tap): void {
  const { plugin } = tap.scope;
  const { stage = 0 } = tap.options;
  const free = declared.places.find(
    place => place.tap === undefined && place.plugin === plugin && place.stage === stage,
  );
  if (free !== undefined) {
    free.tap = tap;
    return;
  }
  const place: TapPlace = { plugin, stage, tap };
  declared.places.push(place);
  const run = (...args: unknown[]): Promise<unknown> =>
    place.tap === undefined ? Promise.resolve(passedOnBy(declared, args)) : runTap(declared, place.tap, args);
  declared.hook.tapPromise({ name: plugin, stage }, run as never);
}

/** The value that a hook passes on when a tap returns none. */
function passedOnBy({ kind }: Declared, [first]: unknown[]): unknown {
  return kind === 'waterfall' ? first : undefined;
}

/**
 * Returns the value that the hook passes on. A guarded tap that fails changes nothing; an unguarded one fails the whole
 * call.
 */
async function runTap(declared: Declared, tap: Tap, args: unknown[]): Promise<unknown> {
  const { name, kind, options } = declared;
  const { scope } = tap;
  const passedOn = passedOnBy(declared, args);
  if (scope.disposed) return passedOn;
  const { guarded = true } = options;
  const call: Call = {
    place: 'tap',
    what: `tap on ${name}`,
    deadlineMs: tap.options.deadlineMs ?? options.deadlineMs ?? DEADLINE_MS,
    toldByCaller: true,
    mayRefuse: !guarded,
  };
  try {
    const received = crossing(args, declared.scope, scope, call);
    const given = (await scope.invoke(call, () => tap.fn(...received))) ?? passedOn;
    return kind === 'waterfall' ? passedResult(declared, scope, given, call) : undefined;
  } catch (error) {
    reportFailure(scope, call, error);
    if (!guarded) throw error;
    declared.failures += 1;
    return passedOn;
  }
}

/** The value of a tap as the hook passes it on. Throws a Problem for one that does not fit. */
function passedResult(declared: Declared, scope: Scope, given: unknown, call: Call): unknown {
  const [result] = declared.scope === undefined ? [given] : crossing([given], scope, declared.scope, call);
  const misfit = misfitOfResult(declared, result);
  if (misfit === undefined) return result;
  const problem = new Problem(500, `${call.what} of ${scope.plugin} gives what the hook cannot pass on: ${misfit}`);
  scope.count('tap', problem);
  throw problem;
}

/** Counts and logs the failure of a tap, unless it is a refusal, which the caller of the hook reports. */
function reportFailure(scope: Scope, { what, mayRefuse }: Call, error: unknown): void {
  const isProblem = error instanceof Problem;
  const isCounted = blamedFor(error) !== undefined;
  const isRefusal = mayRefuse === true && isProblem && !isCounted;
  // A missed deadline is reported by `invoke` already.
  const isReported = isProblem && error.code === LATE_CODE;
  if (isRefusal || isReported) return;
  scope.fault('tap', isProblem && isCounted ? error : new Error(what, { cause: error }));
}

/** Why the result does not fit. An error of the schema itself is a fault of the hook's owner, and the result passes. */
function misfitOfResult({ name, scope, options: { schema } }: Declared, result: unknown): string | undefined {
  if (schema === undefined) return undefined;
  if (scope === undefined) return misfitOf(schema, result);
  try {
    return scope.invoke({ place: 'callback', what: `hook ${name}: its schema`, deadlineMs: 0 }, () =>
      misfitOf(schema, result),
    );
  } catch (error) {
    if (blamedFor(error) !== scope) throw error;
    return undefined;
  }
}
