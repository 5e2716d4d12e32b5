// The owner of code that others call: the code runs on the owner's behalf, within a deadline, and its faults count
// against the owner only.
import type { Logger } from '../contract/log.ts';

/** Where a fault happened; a plugin's report counts `errors` by these. */
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

/** Describes one call, for its deadline and for messages. */
export interface Call {
  readonly place: FaultPlace;
  /** What is called, as messages show it, such as `tap on host.ready` or `GET /health`. */
  readonly what: string;
  /** How long a promised result is awaited. Infinity when the caller has a limit of its own. */
  readonly deadlineMs: number;
  /** Whether a thrown Problem is an expected answer instead of a fault. Default false. */
  readonly mayRefuse?: boolean;
  /** Whether the caller reports a failure itself, so that it is counted here but not logged. Default false. */
  readonly toldByCaller?: boolean;
}

export interface Owner {
  /** Name of the plugin. */
  readonly plugin: string;
  readonly log: Logger;
  /** Aborts when the owner is disposed of. */
  readonly signal: AbortSignal;
  /**
   * Calls `fn` on the owner's behalf; timers and promises that it starts belong to the owner too. A throw or a
   * rejection is counted against the owner and passed on. A promise that takes too long rejects with a Problem 503 that
   * names the owner and the call; its work continues unobserved.
   */
  invoke<Value>(call: Call, fn: () => Value): Value;
  /** Logs a fault under the owner's name, and counts it unless it was counted where it happened. */
  fault(place: FaultPlace, error: unknown): void;
}
