// Tells whose code is running, so that a fault is counted against the plugin that caused it.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../contract/log.ts';
import type { Scope } from './scope.ts';

const current = new AsyncLocalStorage<Scope>();
let lastRan: string | undefined;

/** Runs `fn` as the plugin's: timers and promises that it starts are the plugin's too. */
export function runAs<Value>(scope: Scope, fn: () => Value): Value {
  lastRan = scope.plugin;
  return current.run(scope, fn);
}

export interface FaultHandlers {
  /** A plugin's own timer or emitter threw. */
  plugin(scope: Scope, error: unknown): void;
  /** The host itself is at fault; it must end. */
  host(error: unknown): void;
}

/** Routes uncaught errors of the whole process. A second one while the first is handled exits at once. */
export function catchUncaught(handlers: FaultHandlers): () => void {
  let handling = false;
  const onUncaught = (error: unknown): void => {
    if (handling) process.exit(70);
    handling = true;
    const scope = current.getStore();
    if (scope === undefined) handlers.host(error);
    else current.exit(() => handlers.plugin(scope, error));
    handling = false;
  };
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', onUncaught);
  return () => {
    process.off('uncaughtException', onUncaught);
    process.off('unhandledRejection', onUncaught);
  };
}

const PROBE_MS = 100;
const BLOCKED_MS = 500;

/** Warns when the event loop stood still, naming the plugin whose code ran last. */
export function watchEventLoop(log: Logger): () => void {
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const blockedMs = now - before - PROBE_MS;
    before = now;
    if (blockedMs > BLOCKED_MS) {
      log.warn(`the event loop stood still for ${Math.round(blockedMs)} ms; last ran: ${lastRan ?? 'the host'}`);
    }
  }, PROBE_MS);
  timer.unref();
  return () => clearInterval(timer);
}
