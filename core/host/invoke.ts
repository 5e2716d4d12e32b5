// The only way to call a function that another plugin handed over: it runs as code of its owner, within a deadline, and
// its errors count against the owner.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Problem } from '../contract/problem.ts';
import { causesOf, thrownObject } from '../kit/causes.ts';
import type { Call } from '../kit/owner.ts';
import { durationText } from './duration-text.ts';
import { noteCall, startDeadline } from './loop-clock.ts';
import type { Scope } from './scope.ts';

/** Code of the Problem that a caller gets when a deadline was missed. */
export const LATE_CODE = 'plugin.late';

const current = new AsyncLocalStorage<Scope>();
/** Errors that were counted already, with the scope that they count against. */
const blamed = new WeakMap<object, Scope>();
/** Milliseconds for which nested calls within the present call have held the event loop. */
let insideMs = 0;

/** The scope whose code runs now; undefined for the host's own code. */
export function currentScope(): Scope | undefined {
  return current.getStore();
}

/** The plugin that begins to answer a call, and its caller; undefined outside the synchronous part of a call. */
let answering: { readonly scope: Scope; readonly caller: Scope | undefined } | undefined;

/** Runs `fn`, by which `scope` answers a call of `caller`. */
export function asAnswerTo<Value>(caller: Scope | undefined, scope: Scope, fn: () => Value): Value {
  const before = answering;
  answering = { scope, caller };
  try {
    return fn();
  } finally {
    answering = before;
  }
}

/** The other plugin whose call `scope` begins to answer; undefined when there is none. */
export function callerOf(scope: Scope): Scope | undefined {
  return answering?.scope === scope && answering.caller !== scope ? answering.caller : undefined;
}

/** Runs `fn` as code of the host. */
export function asHost<Value>(fn: () => Value): Value {
  return current.exit(fn);
}

/** The scope that this error, or one of its causes, was counted against; undefined when it was not counted. */
export function blamedFor(error: unknown): Scope | undefined {
  for (const cause of causesOf(error)) {
    const scope = blamed.get(cause);
    if (scope !== undefined) return scope;
  }
  return undefined;
}

export function blame(error: unknown, scope: Scope): void {
  if (isObject(error)) blamed.set(error, scope);
}

/**
 * Runs `fn` as code of the plugin, so that timers and promises that it creates belong to the plugin too. The name of
 * this function, and that of `invoke`, must stay: source-place.ts finds in a stack by them where a call begins.
 */
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

/** See `Owner.invoke`. `map` converts the result for the caller, and throws when the result is not as promised. */
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
    const onValue = (value: unknown): void => {
      stop?.();
      if (isLate) return;
      try {
        resolve(map === undefined ? value : map(value));
      } catch (error) {
        reject(failure(scope, call, error));
      }
    };
    const onError = (thrown: unknown): void => {
      stop?.();
      if (isLate)
        scope.log.debug(`${call.what}: it failed after it had been left behind`, asThrown(scope, call.what, thrown));
      else reject(failure(scope, call, thrown));
    };
    // Any other `then` is code of the plugin, and may resolve with a further thenable.
    const plain = isPlainPromise(promise) ? promise : runAs(scope, call.what, () => new Promise(done => done(promise)));
    plain.then(onValue, onError);
  });
}

/** Counts the missed deadline against the owner and returns the error for the caller. */
function lateness(scope: Scope, { place, what }: Call, limitMs: number): Problem {
  const sentence = `${what} of ${scope.plugin} takes longer than ${durationText(limitMs)} and is left behind`;
  const problem = new Problem(503, sentence, { code: LATE_CODE });
  scope.fault(place, problem);
  return problem;
}

/** The thrown value as an object that is safe to read. Reading it for the first time may run code of the plugin. */
export function asThrown(scope: Scope, what: string, thrown: unknown): object {
  return runAs(scope, what, () => thrownObject(thrown));
}

/** The error for the caller. It is counted only here, at the innermost call that it passes. */
function failure(scope: Scope, call: Call, thrown: unknown): unknown {
  const error = asThrown(scope, call.what, thrown);
  if (call.mayRefuse === true && error instanceof Problem) return error;
  if (blamedFor(error) !== undefined) return error;
  const culprit = scope.culpritOf(error);
  culprit.count(call.place, error);
  const isOther = culprit !== scope;
  if (isOther || call.toldByCaller !== true)
    culprit.fault(call.place, new Error(isOther ? `${call.what} of ${scope.plugin}` : call.what, { cause: error }));
  return error;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isPlainPromise(promise: PromiseLike<unknown>): promise is Promise<unknown> {
  return promise instanceof Promise && promise.then === Promise.prototype.then;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof (value as { then?: unknown }).then === 'function';
}
