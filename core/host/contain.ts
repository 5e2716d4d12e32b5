// Values that a plugin hands to others: every function in them, and every function they give out, runs as the owner's.
import { EventEmitter } from 'node:events';
import { z } from 'zod';
import type { Call, FaultPlace } from '../kit/owner.ts';
import { currentScope, invoke } from './invoke.ts';
import type { Scope } from './scope.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

export interface Containment {
  readonly scope: Scope;
  readonly place: FaultPlace;
  /** What the value is called in messages: `process.probe finder`. */
  readonly name: string;
  deadlineMs(member: string): number;
  /** Whether a throw belongs to what its functions do, and whoever calls tells of it. */
  mayFail?(): boolean;
  /** What a member of the value itself must give; the error of one that does not. */
  check?(member: string, given: unknown): Error | undefined;
}

/** Instances of these work only as themselves, and hold no code of the plugin. */
const FOREIGN = [z.ZodType, EventEmitter, URL, URLSearchParams, AbortSignal, AbortController];
const NATIVE = /\{\s*\[native code\]\s*\}\s*$/;
const CALLBACK: Call = {
  place: 'callback',
  what: 'a callback',
  deadlineMs: Number.POSITIVE_INFINITY,
  mayRefuse: true,
};
const callbacks = new WeakMap<object, WeakMap<Scope, AnyFunction>>();

/** The same value for the same original, as long as the containment lives. */
export class Container {
  readonly #containment: Containment;
  readonly #known = new WeakMap<object, unknown>();

  constructor(containment: Containment) {
    this.#containment = containment;
  }

  /** `path`: the members that lead to it, for messages. */
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

  /** What the original has now; an accessor is code like any other. */
  #getter(original: object, key: PropertyKey, descriptor: PropertyDescriptor, name: string): () => unknown {
    const read = () => Reflect.get(original, key) as unknown;
    const { get } = descriptor;
    if (get === undefined) return () => this.contain(read(), name, original);
    const call = this.#call(name);
    return () => this.contain(invoke(this.#containment.scope, call, read), name, original);
  }

  #function(fn: AnyFunction, path: string, self: object | undefined): AnyFunction {
    // A method is the same function for every instance of its class.
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

  /** Limits are asked for at each call: whoever sets them may come later than the value. */
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

/** A function that is given along runs as that of whoever gave it. Who calls it decides how long to wait. */
function ownedByCaller(args: unknown[]): unknown[] {
  if (!args.some(argument => typeof argument === 'function')) return args;
  const caller = currentScope();
  if (caller === undefined) return args;
  return args.map(argument =>
    typeof argument === 'function' ? callbackOf(caller, argument as AnyFunction) : argument,
  );
}

/** The same for the same function, so that what is added by it can be taken away by it. */
function callbackOf(scope: Scope, fn: AnyFunction): AnyFunction {
  const byScope = callbacks.get(fn) ?? new WeakMap<Scope, AnyFunction>();
  callbacks.set(fn, byScope);
  const known = byScope.get(scope);
  if (known !== undefined) return known;
  const callback: AnyFunction = (...args) => invoke(scope, CALLBACK, () => fn.apply(undefined, args));
  byScope.set(scope, callback);
  return callback;
}

/** The first of each name from the object up; what every object has is left out. */
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

/** Whether what a function gave out can be called into again. */
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

/** Plain objects and instances of classes that are written in JavaScript. */
function isContainable(value: object): boolean {
  if (isPlain(value)) return true;
  const prototype = Object.getPrototypeOf(value) as object;
  let known = containable.get(prototype);
  if (known === undefined) {
    known = !FOREIGN.some(kind => value instanceof kind) && !hasNativeAncestor(prototype);
    containable.set(prototype, known);
  }
  return known;
}

function hasNativeAncestor(prototype: object): boolean {
  for (let place: object | null = prototype; place !== null && place !== Object.prototype; ) {
    const made: unknown = Object.getOwnPropertyDescriptor(place, 'constructor')?.value;
    if (typeof made !== 'function' || NATIVE.test(Function.prototype.toString.call(made))) return true;
    place = Object.getPrototypeOf(place) as object | null;
  }
  return false;
}
