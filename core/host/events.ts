// Events between plugins: each type has one owner, which alone emits it; a listener can neither delay nor fail the
// emitter, and hears afterwards what was emitted while its plugin was loaded anew.
import { AsyncResource } from 'node:async_hooks';
import type { EmitOptions, EventDeclaration, EventListing } from '../contract/event.ts';
import { requireFunction, requireText } from '../kit/checked-argument.ts';
import { deepFreeze } from '../kit/deep-freeze.ts';
import { isJsonData } from '../kit/json-data.ts';
import { NameTaken } from '../kit/name-taken.ts';
import type { Scope } from './scope.ts';

/** A listener that takes longer is reported and no longer waited for. */
const LISTENER_DEADLINE_MS = 10_000;
const EVERY_TYPE = '*';
/** The loop is given back after so much work for listeners, however many events were emitted at once. */
const SLICE_MS = 3;
/** For each type that a plugin listens to. */
const MAX_HELD = 10_000;

interface EmittedEvent {
  readonly type: string;
  readonly plugin: string;
  readonly at: number;
  readonly data: unknown;
}

type ListenerFunction = (event: EmittedEvent) => unknown;

interface Listener {
  readonly scope: Scope;
  readonly fn: ListenerFunction;
}

interface Emission {
  readonly event: EmittedEvent;
  /** What listeners do belongs to its call, though one turn of the loop serves events of many emitters. */
  readonly context: AsyncResource;
}

interface ListenerCall {
  /** A type, or `*` for every type. */
  readonly heard: string;
  readonly listener: Listener;
  readonly emission: Emission;
}

/** What is kept for a plugin while it is loaded anew. */
interface Held {
  readonly scope: Scope;
  /** By what listeners listen to. */
  readonly emissions: Map<string, Set<Emission>>;
  /** Take away the listeners that stand in for those to come. */
  readonly removals: (() => void)[];
  lost: number;
}

export class EventRegistry {
  readonly #declared = new Map<string, EventListing>();
  readonly #listeners = new Map<string, Set<Listener>>();
  /** Names under which each plugin has emitted an event that is emitted once. */
  readonly #emittedOnce = new Map<string, Set<string>>();
  /** In the order in which they are to be made. */
  readonly #waiting = new Set<ListenerCall>();
  #turn: NodeJS.Immediate | undefined;
  /** By plugin. */
  readonly #held = new Map<string, Held>();

  declare(plugin: string, type: string, { description }: EventDeclaration): () => void {
    requireText(type, `a type of events of ${plugin}`);
    requireText(description, `the description of the event '${type}' of ${plugin}`);
    const other = this.#declared.get(type);
    if (other !== undefined) throw new NameTaken(`event '${type}' of ${plugin}`, 'owned', other.plugin);
    if (type === EVERY_TYPE) throw new Error(`${plugin} declares the event '${type}', which stands for every type`);
    this.#declared.set(type, { type, plugin, description });
    return () => this.#declared.delete(type);
  }

  /** Every declared type, sorted. */
  list(): EventListing[] {
    return [...this.#declared.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
  }

  /** `*` listens to every type. A type may be listened to before its owner declares it. */
  on(scope: Scope, type: string, fn: ListenerFunction): () => void {
    requireFunction(fn, `the listener of ${scope.plugin} on ${String(type)}`);
    const listener = { scope, fn };
    const listeners = this.#listeners.get(type) ?? new Set<Listener>();
    this.#listeners.set(type, listeners);
    listeners.add(listener);
    const remove = (): void => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(type) === listeners) this.#listeners.delete(type);
    };
    return () => {
      const held = this.#held.get(scope.plugin);
      if (held === undefined) remove();
      else held.removals.push(remove);
    };
  }

  /** Returns before any listener runs. Each listener receives events in the order in which they were emitted. */
  emit(plugin: string, type: string, data: unknown, { once }: EmitOptions = {}): void {
    const owner = this.#declared.get(type)?.plugin;
    if (owner === undefined) throw new Error(`${plugin} emits '${type}', which it has not declared with host.event`);
    if (owner !== plugin) throw new Error(`${plugin} emits '${type}', which belongs to ${owner}`);
    if (once !== undefined && !this.#isFirst(plugin, once)) return;
    readAccessors(data);
    if (!isJsonData(data)) throw new Error(`${plugin} emits '${type}' with data that JSON cannot hold`);
    const event = deepFreeze<EmittedEvent>({ type, plugin, at: Date.now() / 1_000, data });
    const emission = { event, context: new AsyncResource('event') };
    for (const heard of [type, EVERY_TYPE])
      for (const listener of this.#listeners.get(heard) ?? []) this.#queue({ heard, listener, emission });
  }

  /** Keeps from now on what this plugin would hear. */
  hold(scope: Scope): void {
    if (this.#held.has(scope.plugin)) return;
    this.#held.set(scope.plugin, { scope, emissions: new Map(), removals: [], lost: 0 });
  }

  /** Tells what was kept to the listeners that there are now, and drops what nobody listens to any more. */
  release(): void {
    for (const call of this.#waiting) {
      const held = this.#held.get(call.listener.scope.plugin);
      if (held === undefined) continue;
      this.#waiting.delete(call);
      keep(held, call);
    }
    const all = [...this.#held];
    this.#held.clear();
    for (const [plugin, { scope, emissions, removals, lost }] of all) {
      for (const remove of removals) remove();
      for (const [heard, kept] of emissions) {
        const listeners = [...(this.#listeners.get(heard) ?? [])].filter(listener => listener.scope.plugin === plugin);
        for (const emission of kept) for (const listener of listeners) this.#queue({ heard, listener, emission });
      }
      if (lost > 0) scope.log.warn(`${lost} events were emitted while it was loaded, and are more than were kept`);
    }
  }

  #queue(call: ListenerCall): void {
    this.#waiting.add(call);
    this.#turn ??= setImmediate(() => this.#deliverSome());
  }

  #deliverSome(): void {
    const endMs = performance.now() + SLICE_MS;
    for (const call of this.#waiting) {
      this.#waiting.delete(call);
      this.#deliver(call);
      if (performance.now() >= endMs) break;
    }
    this.#turn = this.#waiting.size > 0 ? setImmediate(() => this.#deliverSome()) : undefined;
  }

  #deliver(call: ListenerCall): void {
    const { heard, listener, emission } = call;
    const held = this.#held.get(listener.scope.plugin);
    if (held !== undefined) keep(held, call);
    else if (this.#listeners.get(heard)?.has(listener))
      emission.context.runInAsyncScope(() => void deliver(listener, emission.event));
  }

  #isFirst(plugin: string, once: string): boolean {
    const names = this.#emittedOnce.get(plugin) ?? new Set<string>();
    this.#emittedOnce.set(plugin, names);
    const isFirst = !names.has(once);
    names.add(once);
    return isFirst;
  }
}

/**
 * Puts their values in the place of accessors at any depth: as the emitter's, for whoever hears of it would run them.
 */
function readAccessors(data: unknown, seen = new Set<object>()): void {
  if (typeof data !== 'object' || data === null || Object.isFrozen(data) || seen.has(data)) return;
  seen.add(data);
  for (const [key, { get, enumerable = false }] of Object.entries(Object.getOwnPropertyDescriptors(data))) {
    const value: unknown = Reflect.get(data, key);
    if (get !== undefined) Object.defineProperty(data, key, { value, enumerable });
    readAccessors(value, seen);
  }
}

/** Once, however many listeners of the plugin would hear it. */
function keep(held: Held, { heard, emission }: ListenerCall): void {
  const kept = held.emissions.get(heard) ?? new Set();
  held.emissions.set(heard, kept);
  if (kept.size < MAX_HELD || kept.has(emission)) kept.add(emission);
  else held.lost += 1;
}

async function deliver({ scope, fn }: Listener, event: EmittedEvent): Promise<void> {
  if (scope.disposed) return;
  const what = `listener on ${event.type}`;
  try {
    await scope.invoke({ place: 'event', what, deadlineMs: LISTENER_DEADLINE_MS }, () => fn(event));
  } catch {
    // It was counted and told where it happened.
  }
}
