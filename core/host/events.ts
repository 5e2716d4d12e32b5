// Events between plugins: each type has one owner, which alone emits it; a listener can neither delay nor fail the
// emitter, and after a reload of its plugin it receives the events that were emitted meanwhile.
import { AsyncResource } from 'node:async_hooks';
import type { EmitOptions, EventDeclaration, EventListing } from '../contract/event.ts';
import { requireFunction, requireText } from '../kit/checked-argument.ts';
import { deepFreeze } from '../kit/deep-freeze.ts';
import { isJsonData } from '../kit/json-data.ts';
import { NameTaken } from '../kit/name-taken.ts';
import type { Scope } from './scope.ts';
import type { UsedName } from './unknown-seams.ts';

/** A listener that takes longer is reported and no longer waited for. */
const LISTENER_DEADLINE_MS = 10_000;
const EVERY_TYPE = '*';
/** How long listeners run in one turn of the event loop, however many events wait. */
const SLICE_MS = 3;
/** How many events are kept for a plugin that is being reloaded, for each type that it listens to. */
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
  /** The async context of the emitter's call. Listeners run in it, although one turn delivers many events. */
  readonly context: AsyncResource;
}

interface ListenerCall {
  /** What the listener is registered for: a type, or `*` for every type. */
  readonly heard: string;
  readonly listener: Listener;
  readonly emission: Emission;
}

/** What is kept for a plugin while it is being reloaded. */
interface Held {
  readonly scope: Scope;
  /** Events by the type, or `*`, that the plugin listened to. */
  readonly emissions: Map<string, Set<Emission>>;
  /** Functions that remove the old listeners, which stay registered until the new ones are. */
  readonly removals: (() => void)[];
  lost: number;
}

export class EventRegistry {
  readonly #declared = new Map<string, EventListing>();
  readonly #listeners = new Map<string, Set<Listener>>();
  /** Names under which each plugin has emitted an event that is emitted once. */
  readonly #emittedOnce = new Map<string, Set<string>>();
  /** Calls of listeners that are still to be made, in order. */
  readonly #waiting = new Set<ListenerCall>();
  #turn: NodeJS.Immediate | undefined;
  /** The plugins that are being reloaded, by name. */
  readonly #held = new Map<string, Held>();

  declare(plugin: string, type: string, declaration: EventDeclaration): () => void {
    requireText(type, `a type of events of ${plugin}`);
    // Third parties are not compiled against the contract.
    const { description } = (declaration as EventDeclaration | undefined) ?? {};
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

  names(): string[] {
    return [...this.#declared.keys()];
  }

  undeclared(): UsedName[] {
    const heard = [...this.#listeners].filter(([type]) => type !== EVERY_TYPE && !this.#declared.has(type));
    return heard.flatMap(([name, found]) => [...found].map(({ scope }) => ({ plugin: scope.plugin, name })));
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

  /** From now on keeps the events for this plugin, until `release`. */
  hold(scope: Scope): void {
    if (this.#held.has(scope.plugin)) return;
    this.#held.set(scope.plugin, { scope, emissions: new Map(), removals: [], lost: 0 });
  }

  /** Delivers all kept events to the present listeners of their plugins, and drops those without a listener. */
  release(): void {
    for (const call of this.#waiting) {
      const held = this.#held.get(call.listener.scope.plugin);
      if (held === undefined) continue;
      this.#waiting.delete(call);
      keep(held, call);
    }
    const all = [...this.#held.values()];
    this.#held.clear();
    for (const held of all) this.#deliverHeld(held);
  }

  #deliverHeld({ scope, emissions, removals, lost }: Held): void {
    for (const remove of removals) remove();
    for (const [heard, kept] of emissions) {
      const all = [...(this.#listeners.get(heard) ?? [])];
      const listeners = all.filter(listener => listener.scope.plugin === scope.plugin);
      for (const emission of kept) for (const listener of listeners) this.#queue({ heard, listener, emission });
    }
    if (lost > 0) scope.log.warn(`${lost} events were emitted while it was loaded, and are more than were kept`);
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
 * Replaces accessors at any depth by their values, so that they run now, as the emitter's code, and not for a listener.
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

/** Keeps the event of a call: once, however many listeners of the plugin would receive it. */
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
    // `invoke` has counted and logged the error.
  }
}
