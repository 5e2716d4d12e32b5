// Events between plugins: each type has one owner, which alone emits it; a listener can neither delay nor fail the
// emitter.
import { AsyncResource } from 'node:async_hooks';
import type { EmitOptions, EventDeclaration, EventListing } from '../contract/event.ts';
import { deepFreeze } from '../kit/deep-freeze.ts';
import type { Scope } from './scope.ts';

/** A listener that takes longer is reported and no longer waited for. */
const LISTENER_DEADLINE_MS = 10_000;
const EVERY_TYPE = '*';
/** The loop is given back after so much work for listeners, however many events were emitted at once. */
const SLICE_MS = 3;

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

export class EventRegistry {
  readonly #declared = new Map<string, EventListing>();
  readonly #listeners = new Map<string, Set<Listener>>();
  /** Names under which each plugin has emitted an event that is emitted once. */
  readonly #emittedOnce = new Map<string, Set<string>>();
  /** Calls of listeners, in the order in which they are to be made. */
  readonly #waiting = new Set<() => void>();

  declare(plugin: string, type: string, { description }: EventDeclaration): () => void {
    const other = this.#declared.get(type);
    if (other !== undefined) throw new Error(`event '${type}' of ${plugin} is already owned by ${other.plugin}`);
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
    const listener = { scope, fn };
    const listeners = this.#listeners.get(type) ?? new Set<Listener>();
    this.#listeners.set(type, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(type) === listeners) this.#listeners.delete(type);
    };
  }

  /** Returns before any listener runs. Each listener receives events in the order in which they were emitted. */
  emit(plugin: string, type: string, data: unknown, { once }: EmitOptions = {}): void {
    const owner = this.#declared.get(type)?.plugin;
    if (owner === undefined) throw new Error(`${plugin} emits '${type}', which it has not declared with host.event`);
    if (owner !== plugin) throw new Error(`${plugin} emits '${type}', which belongs to ${owner}`);
    if (once !== undefined && !this.#isFirst(plugin, once)) return;
    const event = deepFreeze<EmittedEvent>({ type, plugin, at: Date.now() / 1_000, data });
    // What the emitter does now belongs to its call, though one turn of the loop serves events of many emitters.
    const context = new AsyncResource('event');
    for (const heard of [type, EVERY_TYPE]) {
      for (const listener of this.#listeners.get(heard) ?? []) {
        if (this.#waiting.size === 0) setImmediate(() => this.#deliverSome());
        this.#waiting.add(() => {
          const isHeard = this.#listeners.get(heard)?.has(listener);
          if (isHeard) context.runInAsyncScope(() => void deliver(listener, event));
        });
      }
    }
  }

  #deliverSome(): void {
    const endMs = performance.now() + SLICE_MS;
    for (const call of this.#waiting) {
      // Not before, because the first to wait starts the next turn.
      call();
      this.#waiting.delete(call);
      if (performance.now() >= endMs) break;
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#deliverSome());
  }

  #isFirst(plugin: string, once: string): boolean {
    const names = this.#emittedOnce.get(plugin) ?? new Set<string>();
    this.#emittedOnce.set(plugin, names);
    const isFirst = !names.has(once);
    names.add(once);
    return isFirst;
  }
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
