// Wraps values that a plugin hands to others: all functions in them, and all they return, run as their owner's.
import { EventEmitter } from 'node:events';
import { z } from 'zod';
import type { Call, FaultPlace } from '../kit/owner.ts';
import { currentScope, invoke } from './invoke.ts';
import type { Scope } from './scope.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

export interface Containment {
  readonly scope: Scope;
  readonly place: FaultPlace;
  /** The name of the value in messages, such as `process.probe server`. */
  readonly name: string;
  deadlineMs(member: string): number;
  /** Whether a throw is an expected outcome of its functions, which the caller reports. */
  mayFail?(): boolean;
  /** Checks the result of a member of the value itself; returns the error for one that is not as required. */
  check?(member: string, given: unknown): Error | undefined;
}

/** Instances of these work only with their own methods' `this`, and contain no code of the plugin. */
const UNCONTAINED_CLASSES = [z.ZodType, EventEmitter, URL, URLSearchParams, AbortSignal, AbortController];
const NATIVE_SOURCE = /\{\s*\[native code\]\s*\}\s*$/;
const CALLBACK: Call = {
  place: 'callback',
  what: 'a callback',
  deadlineMs: Number.POSITIVE_INFINITY,
  mayRefuse: true,
};
const callbacks = new WeakMap<object, WeakMap<Scope, AnyFunction>>();

/** Contains values for one containment; the same original always gives the same facade. */
export class Container {
  readonly #containment: Containment;
  readonly #known = new WeakMap<object, unknown>();

  constructor(containment: Containment) {
    this.#containment = containment;
  }

  /** `path` holds the members that lead to the value, for messages. */
  contain(value: unknown, path = '', self?: object): unknown {
    if (typeof value === 'function') return this.#function(value as AnyFunction, path, self);
    if (typeof value !== 'object' || value === null) return value;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    if (Array.isArray(value)) return this.#list(value, path);
    return isContainable(value) ? this.#object(value, path) : value;
  }

  #list(values: readonly unknown[], path: string): unknown {
    if (!values.some(value => typeof value === 'object' || typeof value === 'function')) return values;
    const contained: unknown[] = [];
    this.#known.set(values, contained);
    for (const value of values) contained.push(this.contain(value, path));
    return contained;
  }

  #object(original: object, path: string): object {
    const facade: object = Object.create(Object.getPrototypeOf(original));
    this.#known.set(original, facade);
    for (const [key, descriptor] of membersOf(original)) {
      const name = path === '' ? String(key) : `${path}.${String(key)}`;
      const { enumerable = false } = descriptor;
      if (typeof descriptor.value === 'function')
        Object.defineProperty(facade, key, { enumerable, value: this.contain(descriptor.value, name, original) });
      else Object.defineProperty(facade, key, { enumerable, get: this.#getter(original, key, descriptor, name) });
    }
    return facade;
  }

  /** Reads the current value of the original; an accessor runs as its owner's, as any function does. */
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
    const { scope, check } = this.#containment;
    const call = this.#call(path);
    const map = (given: unknown): unknown => {
      const refusal = check?.(path, given);
      if (refusal !== undefined) throw refusal;
      return holdsCode(given) ? this.contain(given, `${path}()`) : given;
    };
    const contained: AnyFunction = (...args) => {
      const given = ownedByCaller(args);
      return invoke(scope, call, () => fn.apply(self, given), map);
    };
    if (self === undefined) this.#known.set(fn, contained);
    return contained;
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

/** A function among the arguments runs as the caller's; whoever calls it decides how long to wait. */
function ownedByCaller(args: unknown[]): unknown[] {
  if (!args.some(argument => typeof argument === 'function')) return args;
  const caller = currentScope();
  if (caller === undefined) return args;
  return args.map(argument =>
    typeof argument === 'function' ? callbackOf(caller, argument as AnyFunction) : argument,
  );
}

/** The same function always gives the same callback, so that a listener added with it can be removed with it. */
function callbackOf(scope: Scope, fn: AnyFunction): AnyFunction {
  const byScope = callbacks.get(fn) ?? new WeakMap<Scope, AnyFunction>();
  callbacks.set(fn, byScope);
  const known = byScope.get(scope);
  if (known !== undefined) return known;
  const callback: AnyFunction = (...args) => invoke(scope, CALLBACK, () => fn.apply(undefined, args));
  byScope.set(scope, callback);
  return callback;
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

/** Whether a returned value has functions that a caller could call. */
function holdsCode(given: unknown): boolean {
  if (typeof given === 'function') return true;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  if (!isPlain(given)) return isContainable(given);
  for (const key in given) if (typeof (given as Record<string, unknown>)[key] === 'function') return true;
  return false;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const containable = new WeakMap<object, boolean>();

/** Plain objects, and instances of classes that are written in JavaScript. */
function isContainable(value: object): boolean {
  if (isPlain(value)) return true;
  const prototype = Object.getPrototypeOf(value) as object;
  let known = containable.get(prototype);
  if (known === undefined) {
    known = !UNCONTAINED_CLASSES.some(kind => value instanceof kind) && !hasNativeAncestor(prototype);
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
