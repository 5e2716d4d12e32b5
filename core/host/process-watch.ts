// What a host that has a process to itself follows in it: errors that nobody caught, a stalled event loop, timers of
// plugins, and an exit that a plugin brings about.
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
  /** Nothing ends the process while the host runs but a plugin that calls process.exit. */
  const onExit = (code: number): void => {
    // A handler of signals, or of the errors of others, runs as nobody or as the other.
    const { plugin } = faults.ownerOf(new Error('called here'), currentScope()) ?? {};
    if (plugin === undefined) return;
    // A host that its plugin ends has not stopped in order, whatever the plugin says.
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
