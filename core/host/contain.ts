// Wraps values that a plugin hands to others: all functions in them, and in their results, run as code of that plugin.
import { EventEmitter } from 'node:events';
import { z } from 'zod';
import type { Call, FaultPlace } from '../kit/owner.ts';
import { asAnswerTo, currentScope, invoke, runAs } from './invoke.ts';
import type { Scope } from './scope.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

export interface Containment {
  readonly scope: Scope;
  readonly place: FaultPlace;
  /** The name of the value in messages, such as `process.probe server`. */
  readonly name: string;
  deadlineMs(member: string): number;
  /** Whether the value's functions are expected to throw at times; their caller then reports the error. */
  mayFail?(): boolean;
  /** Whether a function of the value itself must return its result at once, and not a promise. */
  isImmediate?(member: string): boolean;
  /** For arguments and results: the plugin that receives them. It gets plain data as it is, and may change members. */
  readonly receiver?: Scope;
  /** Checks the result of a function of the value itself; returns the error for a result that does not fit. */
  check?(member: string, given: unknown): Error | undefined;
}

/** Classes whose instances are not wrapped: they work only with the original as `this`, and hold no plugin's code. */
const UNCONTAINED_CLASSES = [z.ZodType, EventEmitter, URL, URLSearchParams, AbortSignal, AbortController];
/** The prototypes that all generators share. They are native, but their `next` runs the plugin's code. */
const GENERATORS = [function* () {}, async function* () {}].map(
  ({ prototype }) => Object.getPrototypeOf(prototype) as object,
);
const NATIVE_SOURCE = /\{\s*\[native code\]\s*\}\s*$/;

/** How many levels deep an argument or a result is searched for functions before it counts as plain data. */
const DIRECT = 1;
/** The same for the members of a value in which a function was found, and for the other arguments of its call. */
const NESTED = 4;

/** What each facade stands for, so that its owner gets the original back. */
const originals = new WeakMap<object, { readonly scope: Scope; readonly value: object }>();

/** Contains values for one containment; the same original always gives the same facade. */
export class Container {
  readonly #containment: Containment;
  readonly #known = new WeakMap<object, unknown>();
  /** Facades of lists; `of` holds the members when the facade was made, because the owner may change the list. */
  readonly #lists = new WeakMap<object, { readonly of: readonly unknown[]; readonly contained: unknown[] }>();
  /** Containers for the results of the value's functions, by the calling plugin. */
  readonly #results = new WeakMap<Scope, Container>();

  constructor(containment: Containment) {
    this.#containment = containment;
  }

  /** `path` names the members that lead to the value, for messages; `self` is the object whose method the value is. */
  contain(value: unknown, path = '', self?: object): unknown {
    const { receiver } = this.#containment;
    if (receiver === undefined) return this.#facade(value, path, self);
    if (value instanceof AbortSignal) return signalFor(receiver, value);
    if (!holdsCode(value, NESTED)) return value;
    const origin = originals.get(value);
    if (origin === undefined) return this.#facade(value, path, self);
    return origin.scope === receiver ? origin.value : value;
  }

  #facade(value: unknown, path: string, self: object | undefined): unknown {
    if (typeof value === 'function') return this.#function(value as AnyFunction, path, self);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return this.#list(value, path);
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    return isContainable(value) ? this.#object(value, path) : value;
  }

  #list(values: readonly unknown[], path: string): readonly unknown[] {
    if (!values.some(value => typeof value === 'object' || typeof value === 'function')) return values;
    const known = this.#lists.get(values);
    if (known !== undefined && haveSameMembers(known.of, values)) return known.contained;
    const contained: unknown[] = [];
    this.#lists.set(values, { of: [...values], contained });
    for (const value of values) contained.push(this.contain(value, path));
    return contained;
  }

  #object(original: object, path: string): object {
    const { scope, receiver } = this.#containment;
    const facade: object = Object.create(Object.getPrototypeOf(original));
    this.#known.set(original, facade);
    originals.set(facade, { scope, value: original });
    for (const [key, descriptor] of membersOf(original)) {
      const name = path === '' ? String(key) : `${path}.${String(key)}`;
      const { enumerable = false } = descriptor;
      if (typeof descriptor.value === 'function') {
        const value = this.contain(descriptor.value, name, original);
        Object.defineProperty(facade, key, { enumerable, value });
        continue;
      }
      const get = this.#getter(original, key, descriptor, name);
      // The receiver of a value may change its members, as taps change the plan that they are given.
      const set = (value: unknown): void => {
        (original as Record<PropertyKey, unknown>)[key] = value;
      };
      Object.defineProperty(facade, key, receiver === undefined ? { enumerable, get } : { enumerable, get, set });
    }
    return facade;
  }

  /** Reads the current value of the original; an accessor runs as code of its owner, as any function does. */
  #getter(original: object, key: PropertyKey, descriptor: PropertyDescriptor, name: string): () => unknown {
    const read = () => Reflect.get(original, key) as unknown;
    const { get } = descriptor;
    if (get === undefined) return () => this.contain(read(), name, original);
    const call = this.#call(name);
    return () => this.contain(invoke(this.#containment.scope, call, read), name, original);
  }

  #function(fn: AnyFunction, path: string, self: object | undefined): AnyFunction {
    // Methods are not cached by function, because all instances of a class share the function but not `this`.
    const known = self === undefined ? (this.#known.get(fn) as AnyFunction | undefined) : undefined;
    if (known !== undefined) return known;
    const { scope, check, isImmediate } = this.#containment;
    const call = this.#call(path);
    const ask = (received: unknown[]): unknown => {
      const given = fn.apply(self, received);
      if (!(given instanceof Promise) || isImmediate?.(path) !== true) return given;
      given.catch(() => undefined);
      throw new Error('it gives a promise, for which nobody waits');
    };
    const contained: AnyFunction = (...args) => {
      const caller = currentScope();
      const received = crossing(args, caller, scope, call);
      return invoke(
        scope,
        call,
        () => asAnswerTo(caller, scope, () => ask(received)),
        given => {
          const refusal = check?.(path, given);
          if (refusal !== undefined) throw refusal;
          return holdsCode(given, DIRECT) ? this.#resultsFor(caller).contain(given, `${path}()`) : given;
        },
      );
    };
    if (self === undefined) {
      this.#known.set(fn, contained);
      originals.set(contained, { scope, value: fn });
    }
    return contained;
  }

  #resultsFor(caller: Scope | undefined): Container {
    if (caller === undefined || this.#containment.receiver !== undefined) return this;
    const results = this.#results.get(caller) ?? new Container({ ...this.#containment, receiver: caller });
    this.#results.set(caller, results);
    return results;
  }

  /** The deadline is a getter, because the plugin that sets it may be loaded after the value was contributed. */
  #call(path: string): Call {
    const containment = this.#containment;
    const member = path.split(/[.(]/)[0] ?? '';
    return {
      place: containment.place,
      what: path === '' ? containment.name : `${containment.name}: ${path}`,
      mayRefuse: true,
      get deadlineMs() {
        return containment.deadlineMs(member);
      },
      get toldByCaller() {
        return containment.mayFail?.() ?? false;
      },
    };
  }
}

/** Wrapped callbacks: by function, by the plugin that gives it, and by the plugin that receives it. */
const callbacks = new WeakMap<object, WeakMap<Scope, WeakMap<Scope, unknown>>>();
const signals = new WeakMap<AbortSignal, WeakMap<Scope, AbortSignal>>();

/**
 * The arguments of a call from one plugin to another, as the receiver gets them. Functions in them run as code of the
 * giver, within the deadline of that call; listeners of signals run as code of the receiver. Plain data is passed as it
 * is, and so are arguments that a plugin passes to itself.
 */
export function crossing(args: unknown[], giver: Scope | undefined, receiver: Scope, call: Call): unknown[] {
  if (giver === undefined || giver === receiver || !args.some(argument => holdsCode(argument, DIRECT))) return args;
  const container = new Container({
    scope: giver,
    receiver,
    place: 'callback',
    name: `a callback given to ${call.what}`,
    deadlineMs: () => call.deadlineMs,
  });
  return args.map(argument => {
    if (typeof argument !== 'function') return container.contain(argument);
    // The same function always gives the same callback, so that a listener added with it can be removed with it.
    const byGiver = callbacks.get(argument) ?? new WeakMap<Scope, WeakMap<Scope, unknown>>();
    callbacks.set(argument, byGiver);
    const byReceiver = byGiver.get(giver) ?? new WeakMap<Scope, unknown>();
    byGiver.set(giver, byReceiver);
    const callback = byReceiver.get(receiver) ?? container.contain(argument);
    byReceiver.set(receiver, callback);
    return callback;
  });
}

/**
 * A signal that follows the given one, whose listeners run as code of the receiver. Listeners of the given signal would
 * run as code of the plugin that aborts it.
 */
export function signalFor(receiver: Scope, signal: AbortSignal): AbortSignal {
  const byScope = signals.get(signal) ?? new WeakMap<Scope, AbortSignal>();
  signals.set(signal, byScope);
  const known = byScope.get(receiver);
  if (known !== undefined) return known;
  const abort = new AbortController();
  byScope.set(receiver, abort.signal);
  const pass = (): void => runAs(receiver, 'a listener of a signal', () => abort.abort(signal.reason));
  if (signal.aborted) pass();
  // A signal that outlives the receiver keeps no reference to it.
  else signal.addEventListener('abort', pass, { once: true, signal: receiver.gone });
  return abort.signal;
}

function haveSameMembers(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((member, index) => member === other[index]);
}

/** The members of the object and its prototypes up to Object.prototype; the nearest of each name wins. */
function membersOf(original: object): Map<PropertyKey, PropertyDescriptor> {
  const members = new Map<PropertyKey, PropertyDescriptor>();
  for (let place: object | null = original; place !== null && place !== Object.prototype; ) {
    for (const key of Reflect.ownKeys(place)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(place, key);
      if (descriptor !== undefined && key !== 'constructor' && !members.has(key)) members.set(key, descriptor);
    }
    place = Object.getPrototypeOf(place) as object | null;
  }
  return members;
}

/**
 * Frozen objects in which no code was found `DIRECT` levels down. They need no second look, because their members stay;
 * blocks of the configuration are passed with nearly every call.
 */
const frozenData = new WeakSet<object>();

/**
 * Whether a value is or has, at most `levels` levels down, a function that others could call, an accessor that they
 * could read, or a signal that they could listen to. An instance of a plugin's class always counts. Runs no code of the
 * value.
 */
function holdsCode(value: unknown, levels: number): value is object {
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return levels > 0 && value.some(member => holdsCode(member, levels - 1));
  if (!isPlain(value)) return value instanceof AbortSignal || isContainable(value);
  if (levels === 0 || (levels === DIRECT && frozenData.has(value))) return false;
  const isFound = membersHoldCode(value, levels - 1);
  if (!isFound && levels === DIRECT && Object.isFrozen(value)) frozenData.add(value);
  return isFound;
}

function membersHoldCode(value: object, levels: number): boolean {
  for (const key of Reflect.ownKeys(value)) {
    const { get, value: member } = Object.getOwnPropertyDescriptor(value, key) ?? {};
    if (get !== undefined || holdsCode(member, levels)) return true;
  }
  return false;
}

export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const containable = new WeakMap<object, boolean>();

/** Plain objects, generators, and instances of classes that are written in JavaScript. */
function isContainable(value: object): boolean {
  if (isPlain(value)) return true;
  const prototype = Object.getPrototypeOf(value) as object;
  let known = containable.get(prototype);
  if (known === undefined) {
    known =
      GENERATORS.some(generator => Object.prototype.isPrototypeOf.call(generator, prototype)) ||
      (!UNCONTAINED_CLASSES.some(kind => value instanceof kind) && !hasNativeAncestor(prototype));
    containable.set(prototype, known);
  }
  return known;
}

function hasNativeAncestor(prototype: object): boolean {
  for (let place: object | null = prototype; place !== null && place !== Object.prototype; ) {
    const made: unknown = Object.getOwnPropertyDescriptor(place, 'constructor')?.value;
    if (typeof made !== 'function' || NATIVE_SOURCE.test(Function.prototype.toString.call(made))) return true;
    place = Object.getPrototypeOf(place) as object | null;
  }
  return false;
}
