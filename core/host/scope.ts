// Everything that one plugin has registered. Disposing of the scope withdraws it in reverse order; nothing can be added
// later.

import { setMaxListeners } from 'node:events';
import type { Logger } from '../contract/log.ts';
import type { Disposer } from '../contract/plugin.ts';
import { Problem } from '../contract/problem.ts';
import { errorText } from '../kit/error-text.ts';
import type { Call, FaultPlace, Owner } from '../kit/owner.ts';
import { blame, blamedFor, invoke, runAs } from './invoke.ts';
import { forgetIntervals, intervalsLeftBy } from './plugin-timers.ts';
import { realFolder, sourcePlace } from './source-place.ts';

/** A plugin's signals may have any number of listeners: everything that the plugin waits for may listen. */
const UNLIMITED = 0;

export type FaultCounts = Partial<Record<FaultPlace, number>>;

export interface ScopeOptions {
  readonly plugin: string;
  readonly folder: string;
  readonly log: Logger;
  /** Limit in milliseconds for each disposer. */
  readonly disposeMs: number;
  /** Upper limits for the deadlines of calls, by place. */
  readonly callMs?: Partial<Record<FaultPlace, number>> | undefined;
  /** Error counts of the plugin, which outlive the scope. */
  readonly errors: FaultCounts;
  /** The other plugin whose code made an error with which a call of this one failed; undefined when there is none. */
  readonly ownerOf?: (error: unknown, ranAs: Scope) => Scope | undefined;
}

export class Scope implements Owner {
  /** `METHOD path` of each route and the path of each stream, for the plugin's report. */
  readonly routes: string[] = [];
  readonly streams: string[] = [];
  readonly #options: ScopeOptions;
  #abort = new AbortController();
  /** Created on demand, because few of the hundreds of scopes of a start need it. */
  #gone: AbortController | undefined;
  readonly #disposers: Disposer[] = [];
  #disposal: Promise<void> | undefined;

  constructor(options: ScopeOptions) {
    this.#options = options;
    setMaxListeners(UNLIMITED, this.#abort.signal);
  }

  get plugin(): string {
    return this.#options.plugin;
  }

  get log(): Logger {
    return this.#options.log;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Aborts when all disposers have run; until then they may use what other plugins gave to this one. */
  get gone(): AbortSignal {
    return this.#end().signal;
  }

  get disposed(): boolean {
    return this.#abort.signal.aborted;
  }

  /** See `Owner.invoke`. */
  invoke<Value>(call: Call, fn: () => Value): Value {
    return invoke(this, call, fn);
  }

  limitMs({ place, deadlineMs }: Call): number {
    return Math.min(deadlineMs, this.#options.callMs?.[place] ?? deadlineMs);
  }

  requireLive(): void {
    if (this.disposed) throw new Error(`${this.plugin} registers something after it was disposed`);
  }

  /** Adds a disposer that undoes a registration. Throws when the scope is disposed of already. */
  own(disposer: Disposer): Disposer {
    this.requireLive();
    this.#disposers.push(disposer);
    return () => {
      const at = this.#disposers.lastIndexOf(disposer);
      if (at < 0) return;
      this.#disposers.splice(at, 1);
      return disposer();
    };
  }

  /**
   * The plugin at fault for a failed call of this one: values that are not wrapped (see contain.ts) run as its own
   * code.
   */
  culpritOf(error: unknown): Scope {
    return this.#options.ownerOf?.(error, this) ?? this;
  }

  /** Counts an error that the caller reports. */
  count(place: FaultPlace, error: unknown): void {
    const { errors } = this.#options;
    errors[place] = (errors[place] ?? 0) + 1;
    blame(error, this);
  }

  fault(place: FaultPlace, error: unknown): void {
    if (blamedFor(error) === undefined) this.count(place, error);
    this.log.error(`${place} failed${this.at(error)}`, error);
  }

  /** One line about an error, with file and line in the plugin's folder where known. */
  describe(error: unknown): string {
    const message = errorText(error);
    return message + this.at(error);
  }

  /** ` (index.js:12)`; empty when no place in the plugin's folder is known. */
  at(error: unknown): string {
    const place = sourcePlace(realFolder(this.#options.folder), error);
    return place === null ? '' : ` (${place})`;
  }

  /** Runs every disposer within its deadline; one that fails or hangs does not stop the others. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#disposeAll();
    return this.#disposal;
  }

  /** Runs a disposer that was returned after the scope had been disposed of. */
  disposeLate(disposer: Disposer): void {
    void this.#runDisposer(disposer);
  }

  async #disposeAll(): Promise<void> {
    // A Problem, so that work which ends with it is refused, and not a fault. Listeners run as code of the plugin.
    const reason = new Problem(503, `The plugin ${this.plugin} is being stopped`);
    runAs(this, 'the end of its signal', () => this.#abort.abort(reason));
    for (;;) {
      const disposer = this.#disposers.pop();
      if (disposer === undefined) break;
      await this.#runDisposer(disposer);
    }
    for (const sentence of intervalsLeftBy(this)) this.log.warn(sentence);
    runAs(this, 'the end of its signal', () => this.#end().abort(reason));
    this.#letGo(reason);
  }

  /**
   * Keeps nothing of the plugin. The scope itself stays as long as anything that was begun as code of the plugin, such
   * as its modules, which Node never unloads.
   */
  #letGo(reason: Problem): void {
    forgetIntervals(this);
    this.#abort = aborted(reason);
    this.#gone = aborted(reason);
  }

  #end(): AbortController {
    if (this.#gone === undefined) {
      this.#gone = new AbortController();
      setMaxListeners(UNLIMITED, this.#gone.signal);
    }
    return this.#gone;
  }

  async #runDisposer(disposer: Disposer): Promise<void> {
    const call: Call = { place: 'dispose', what: 'a disposer', deadlineMs: this.#options.disposeMs };
    try {
      await this.invoke(call, disposer);
    } catch {
      // `invoke` has counted and logged the error; the remaining disposers still run.
    }
  }
}

function aborted(reason: Problem): AbortController {
  const controller = new AbortController();
  controller.abort(reason);
  return controller;
}
