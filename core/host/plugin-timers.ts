// Timers and microtasks that plugins start with Node's own functions instead of the host's: they run as code of their
// plugin, and timers that outlive the plugin are reported.
import { currentScope, runAs } from './invoke.ts';
import type { Scope } from './scope.ts';

type Callback = (...args: unknown[]) => void;
type Start = (callback: Callback, ms?: number, ...args: unknown[]) => NodeJS.Timeout;

interface Interval {
  readonly timer: NodeJS.Timeout;
  readonly ms: number;
  /** Its stack leads to the line that started the timer. */
  readonly origin: Error;
}

const WHAT = 'a timer of its own';
const intervals = new WeakMap<Scope, Set<Interval>>();

/** Replaces the global functions; the returned function puts them back. */
export function followTimers(): () => void {
  const { setTimeout: plainTimeout, setInterval: plainInterval, queueMicrotask: plainMicrotask } = globalThis;
  globalThis.setTimeout = following(plainTimeout, plainTimeout as Start);
  globalThis.setInterval = following(plainInterval, (callback, ms = 1, ...args) => {
    const timer = (plainInterval as Start)(callback, ms, ...args);
    const scope = currentScope();
    if (scope !== undefined) remember(scope, { timer, ms, origin: new Error('started here') });
    return timer;
  });
  globalThis.queueMicrotask = callback => {
    const scope = currentScope();
    plainMicrotask(scope === undefined || typeof callback !== 'function' ? callback : () => inTurn(scope, callback));
  };
  return () => {
    globalThis.setTimeout = plainTimeout;
    globalThis.setInterval = plainInterval;
    globalThis.queueMicrotask = plainMicrotask;
  };
}

/**
 * Runs a microtask as code of its plugin. Its error is thrown again in a tick, because Node reports an uncaught error
 * of a tick in the async context of the plugin, but not one of a microtask.
 */
function inTurn(scope: Scope, callback: () => void): void {
  try {
    runAs(scope, 'a microtask of its own', callback);
  } catch (error) {
    runAs(scope, 'a microtask of its own', () =>
      process.nextTick(() => {
        throw error;
      }),
    );
  }
}

/** One sentence for each interval of the plugin that still runs. */
export function intervalsLeftBy(scope: Scope): string[] {
  return [...(intervals.get(scope) ?? [])].filter(isRunning).map(({ ms, origin }) => {
    const what = `a timer of every ${ms} ms still runs after the plugin was withdrawn`;
    return scope.describe(new Error(`${what}; clear it in the function that setup returns`, { cause: origin }));
  });
}

/** Drops the origins of the intervals, which hold all that was on the stack when they began. */
export function forgetIntervals(scope: Scope): void {
  intervals.delete(scope);
}

/** Wraps a function of Node, and keeps its own properties, such as its promisified form. */
function following<Plain extends object>(plain: Plain, start: Start): Plain {
  const replacement: Start = (callback, ms, ...args) => {
    const scope = currentScope();
    if (scope === undefined || typeof callback !== 'function') return start(callback, ms, ...args);
    return start((...given) => runAs(scope, WHAT, () => callback(...given)), ms, ...args);
  };
  return Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(plain)) as unknown as Plain;
}

function remember(scope: Scope, interval: Interval): void {
  const known = [...(intervals.get(scope) ?? [])].filter(isRunning);
  intervals.set(scope, new Set([...known, interval]));
}

/** Node has no public member for this. */
function isRunning({ timer }: Interval): boolean {
  return (timer as { _destroyed?: boolean })._destroyed !== true;
}
