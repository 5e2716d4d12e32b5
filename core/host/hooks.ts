// Moments in a flow, on tapable: every tap is guarded, attributed to its plugin, and gone when its plugin is.
import { AsyncParallelHook, AsyncSeriesHook, AsyncSeriesWaterfallHook } from 'tapable';
import type { HookKind, HookOptions, TapOptions } from '../contract/host.ts';
import { withDeadline } from '../kit/deadline.ts';
import { runAs } from './isolate.ts';
import type { Scope } from './scope.ts';

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
  readonly kind: HookKind;
  readonly guarded: boolean;
  readonly hook: AnyHook;
}

const ARGUMENTS: [string, string, string] = ['first', 'second', 'third'];
const STOPPING_DEADLINE_MS = 5_000;

export class HookRegistry {
  readonly #declared = new Map<string, Declared>();
  readonly #taps = new Map<string, Set<Tap>>();

  declare(
    owner: string,
    name: string,
    kind: HookKind,
    options: HookOptions = {},
  ): { hook: AnyHook; withdraw: () => void } {
    const other = this.#declared.get(name);
    if (other !== undefined) throw new Error(`hook '${name}' of ${owner} is already owned by ${other.owner}`);
    const declared: Declared = { owner, kind, guarded: options.guarded ?? true, hook: createHook(kind) };
    this.#declared.set(name, declared);
    for (const tap of this.#taps.get(name) ?? []) attach(name, declared, tap);
    return { hook: declared.hook, withdraw: () => this.#declared.delete(name) };
  }

  /** Taps may come before the hook's owner. */
  tap(scope: Scope, name: string, fn: AnyTap, options: TapOptions = {}): () => void {
    const tap: Tap = { scope, fn, options };
    const taps = this.#taps.get(name) ?? new Set<Tap>();
    this.#taps.set(name, taps);
    taps.add(tap);
    const declared = this.#declared.get(name);
    if (declared !== undefined) attach(name, declared, tap);
    return () => taps.delete(tap);
  }

  /** Runs only one plugin's taps of a parallel hook: for a plugin that was loaded after the moment had passed. */
  async replay(scope: Scope, name: string): Promise<void> {
    const taps = [...(this.#taps.get(name) ?? [])].filter(tap => tap.scope === scope);
    await Promise.all(taps.map(tap => guarded(name, tap)()));
  }
}

function createHook(kind: HookKind): AnyHook {
  if (kind === 'waterfall') return new AsyncSeriesWaterfallHook<[unknown, ...unknown[]]>(ARGUMENTS);
  return kind === 'series'
    ? new AsyncSeriesHook<unknown[]>(ARGUMENTS as never)
    : new AsyncParallelHook<unknown[]>(ARGUMENTS as never);
}

/** tapable has no untap: a tap whose plugin is gone stays on the hook and does nothing. */
function attach(name: string, declared: Declared, tap: Tap): void {
  const run = declared.guarded ? guarded(name, tap) : unguarded(tap);
  const passOn = declared.kind === 'waterfall';
  declared.hook.tapPromise({ name: tap.scope.plugin, stage: tap.options.stage ?? 0 }, (async (...args: unknown[]) => {
    const result = await run(...args);
    return passOn && result === undefined ? args[0] : result;
  }) as never);
}

function unguarded(tap: Tap): AnyTap {
  return (...args) => (tap.scope.disposed ? undefined : runAs(tap.scope, () => tap.fn(...args)));
}

function guarded(name: string, tap: Tap): (...args: unknown[]) => Promise<unknown> {
  const deadlineMs =
    name === 'host.stopping' || name === 'host.forced' ? (tap.options.deadlineMs ?? STOPPING_DEADLINE_MS) : 0;
  return async (...args) => {
    if (tap.scope.disposed) return undefined;
    const run = async () => runAs(tap.scope, () => tap.fn(...args));
    try {
      return await (deadlineMs > 0 ? withDeadline(run, deadlineMs, `${name} of ${tap.scope.plugin}`) : run());
    } catch (error) {
      tap.scope.fault('tap', new Error(`tap on ${name}`, { cause: error }));
      return undefined;
    }
  };
}
