// Whose code is called: it runs as its owner's, within a time, and its faults are told of the owner and nobody else.
import type { Logger } from '../contract/log.ts';

/** Where a fault happened, as `errors` of a plugin's report counts it. */
export type FaultPlace =
  | 'route'
  | 'stream'
  | 'capability'
  | 'tap'
  | 'contribution'
  | 'service'
  | 'callback'
  | 'timer'
  | 'job'
  | 'event'
  | 'uncaught'
  | 'dispose';

/** One thing that can be called. */
export interface Call {
  readonly place: FaultPlace;
  /** What is called, for messages: `tap on host.ready`, `GET /health`. */
  readonly what: string;
  /** How long a result may be waited for. Infinity: whoever calls sets a limit of their own. */
  readonly deadlineMs: number;
  /** true: a Problem is an answer, not a fault. */
  readonly mayRefuse?: boolean;
  /** true: whoever calls tells of a failure; it is only counted. */
  readonly toldByCaller?: boolean;
}

export interface Owner {
  /** Name of the plugin. */
  readonly plugin: string;
  readonly log: Logger;
  /** Aborts when the owner is disposed of. */
  readonly signal: AbortSignal;
  /**
   * Calls `fn` as the owner's: timers and promises that it starts are the owner's too. A throw or a rejection is counted
   * against the owner and passed on; a promise that takes too long is left behind with a Problem 503 that says who was late.
   */
  invoke<Value>(call: Call, fn: () => Value): Value;
  /** Logs a fault under the owner's name, and counts it unless it was counted where it happened. */
  fault(place: FaultPlace, error: unknown): void;
}
