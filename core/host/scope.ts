// Everything that one plugin holds: disposing of the scope withdraws it, last thing first, and nothing can be added after.

import type { Logger } from '../contract/log.ts';
import type { Disposer } from '../contract/plugin.ts';
import { withDeadline } from '../kit/deadline.ts';
import { runAs } from './isolate.ts';

export type FaultPlace = 'route' | 'stream' | 'tap' | 'timer' | 'job' | 'event' | 'uncaught' | 'dispose';

export class Scope {
  readonly plugin: string;
  readonly log: Logger;
  readonly errors: Partial<Record<FaultPlace, number>> = {};
  /** `METHOD path` of each route, and the path of each stream, for the plugin's report. */
  readonly routes: string[] = [];
  readonly streams: string[] = [];
  readonly #abort = new AbortController();
  readonly #disposers: Disposer[] = [];
  readonly #disposeMs: number;
  #disposal: Promise<void> | undefined;

  constructor(plugin: string, log: Logger, disposeMs: number) {
    this.plugin = plugin;
    this.log = log;
    this.#disposeMs = disposeMs;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get disposed(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Runs `fn` as this plugin's: timers and promises that it starts are the plugin's too. */
  run<Value>(fn: () => Value): Value {
    return runAs(this, fn);
  }

  /** Adds what undoes a registration. Throws when the scope is disposed already. */
  own(disposer: Disposer): Disposer {
    if (this.disposed) throw new Error(`${this.plugin} registers something after it was disposed`);
    this.#disposers.push(disposer);
    return () => {
      const at = this.#disposers.lastIndexOf(disposer);
      if (at < 0) return;
      this.#disposers.splice(at, 1);
      return disposer();
    };
  }

  /** Counts a fault of this plugin and logs it once, under the plugin's name. */
  fault(place: FaultPlace, error: unknown): void {
    this.errors[place] = (this.errors[place] ?? 0) + 1;
    this.log.error(`${place} failed`, error);
  }

  /** Runs every disposer, each within its deadline; a failing or hanging one does not stop the rest. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#disposeAll();
    return this.#disposal;
  }

  async #disposeAll(): Promise<void> {
    this.#abort.abort();
    for (;;) {
      const disposer = this.#disposers.pop();
      if (disposer === undefined) return;
      try {
        await withDeadline(async () => disposer(), this.#disposeMs, `a disposer of ${this.plugin}`);
      } catch (error) {
        this.fault('dispose', error);
      }
    }
  }
}
