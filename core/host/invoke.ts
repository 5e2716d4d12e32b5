// The one way in which the host or a plugin calls what another handed over: as its owner's, in its time, with its blame.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Problem } from '../contract/problem.ts';
import { errorText } from '../kit/error-text.ts';
import type { Call } from '../kit/owner.ts';
import { durationText } from './duration-text.ts';
import { noteCall, startDeadline } from './loop-clock.ts';
import type { Scope } from './scope.ts';

/** Code of the Problem that stands for what was left behind. */
export const LATE_CODE = 'plugin.late';

const current = new AsyncLocalStorage<Scope>();
/** Errors that were counted where they happened, and against whom. */
const blamed = new WeakMap<object, Scope>();
const MAX_CAUSES = 10;
/** How long the calls inside the present one held the loop. */
let insideMs = 0;

/** Whose code runs now; undefined: the host's own. */
export function currentScope(): Scope | undefined {
  return current.getStore();
}

/** Runs `fn` as the host's own. */
export function asHost<Value>(fn: () => Value): Value {
  return current.exit(fn);
}

/** Who was counted the error already, as itself or as one of its causes. */
export function blamedFor(error: unknown): Scope | undefined {
  for (let cause = error, depth = 0; isObject(cause) && depth < MAX_CAUSES; depth += 1) {
    const scope = blamed.get(cause);
    if (scope !== undefined) return scope;
    cause = (cause as { cause?: unknown }).cause;
  }
  return undefined;
}

export function blame(error: unknown, scope: Scope): void {
  if (isObject(error)) blamed.set(error, scope);
}

/** Runs `fn` as the plugin's: timers and promises that it starts are the plugin's too. */
export function runAs<Value>(scope: Scope, what: string, fn: () => Value): Value {
  const insideBeforeMs = insideMs;
  const startedMs = performance.now();
  insideMs = 0;
  try {
    return current.getStore() === scope ? fn() : current.run(scope, fn);
  } finally {
    const ms = performance.now() - startedMs;
    noteCall(scope.plugin, what, ms - insideMs);
    insideMs = insideBeforeMs + ms;
  }
}

/**
 * See `Owner.invoke`. `map` turns the result into what the caller gets, and may throw where it is not what was promised.
 */
export function invoke<Value>(scope: Scope, call: Call, fn: () => Value, map?: (value: unknown) => unknown): Value {
  try {
    const value = runAs(scope, call.what, fn);
    if (isThenable(value)) return settled(scope, call, value, map) as Value;
    return map === undefined ? value : (map(value) as Value);
  } catch (error) {
    throw failure(scope, call, error);
  }
}

function settled(
  scope: Scope,
  call: Call,
  promise: PromiseLike<unknown>,
  map: ((value: unknown) => unknown) | undefined,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const limitMs = scope.limitMs(call);
    const stop = Number.isFinite(limitMs)
      ? startDeadline(limitMs, () => {
          isLate = true;
          reject(lateness(scope, call, limitMs));
        })
      : undefined;
    promise.then(
      value => {
        stop?.();
        if (isLate) return;
        try {
          resolve(map === undefined ? value : map(value));
        } catch (error) {
          reject(failure(scope, call, error));
        }
      },
      (error: unknown) => {
        stop?.();
        if (isLate) scope.log.debug(`${call.what}: it failed after it had been left behind`, error);
        else reject(failure(scope, call, error));
      },
    );
  });
}

/** An answer for whoever waited, and a fault of who was late. */
function lateness(scope: Scope, { place, what }: Call, limitMs: number): Problem {
  const sentence = `${what} of ${scope.plugin} takes longer than ${durationText(limitMs)} and is left behind`;
  const problem = new Problem(503, sentence, { code: LATE_CODE });
  scope.fault(place, problem);
  return problem;
}

/** The error as it is passed on; counted once, where it happened. */
function failure(scope: Scope, call: Call, thrown: unknown): unknown {
  const error = isObject(thrown) ? thrown : new Error(errorText(thrown));
  if (call.mayRefuse === true && error instanceof Problem) return error;
  if (blamedFor(error) !== undefined) return error;
  scope.count(call.place, error);
  if (call.toldByCaller !== true) scope.fault(call.place, new Error(call.what, { cause: error }));
  return error;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof (value as { then?: unknown }).then === 'function';
}
