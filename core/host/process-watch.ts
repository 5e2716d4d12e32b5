// What a host watches when it has a process to itself: uncaught errors, a stalled event loop, timers of plugins, and an
// exit that a plugin causes.
import type { Logging } from '../log/own-log.ts';
import { currentScope } from './invoke.ts';
import { keepGlobals } from './kept-globals.ts';
import { watchEventLoop } from './loop-clock.ts';
import { followTimers } from './plugin-timers.ts';
import type { Scope } from './scope.ts';
import { catchUncaught, EXIT_CODE } from './uncaught.ts';

export interface ProcessFaults {
  /** A timer, an emitter or a promise of a plugin failed. */
  plugin(scope: Scope, error: unknown): void;
  /** See `FaultHandlers.ownerOf`. */
  ownerOf(error: object, ranAs: Scope | undefined): Scope | undefined;
  /** The host itself failed, and must end. */
  host(): void;
  /** A plugin ends the process. Nothing asynchronous runs any more. */
  exit(plugin: string, code: number): void;
}

/** The returned function ends the watch. */
export function watchProcess(logging: Logging, faults: ProcessFaults): () => void {
  const release = catchUncaught({
    plugin: faults.plugin,
    ownerOf: faults.ownerOf,
    host(error) {
      logging.fatal('uncaught error of the host', error);
      faults.host();
    },
  });
  const unwatch = watchEventLoop(logging.logger('host'));
  const unfollow = followTimers();
  const giveBack = keepGlobals();
  /** While the host runs, only a plugin that calls process.exit ends the process. */
  const onExit = (code: number): void => {
    // The current scope alone can mislead: a handler of signals has none, and one of errors may run in another
    // plugin's.
    const { plugin } = faults.ownerOf(new Error('called here'), currentScope()) ?? {};
    if (plugin === undefined) return;
    // The host has not stopped in order, even if the plugin exits with 0.
    process.exitCode = EXIT_CODE;
    const fault = new Error(`the plugin ${plugin} ended the process with process.exit(${code})`);
    logging.fatal(`${plugin} is not loaded again until its files change`, fault);
    faults.exit(plugin, code);
  };
  process.on('exit', onExit);
  return () => {
    process.off('exit', onExit);
    giveBack();
    unfollow();
    unwatch();
    release();
  };
}
