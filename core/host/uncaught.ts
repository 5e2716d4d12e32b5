// Assigns uncaught errors of the process to their owner: a plugin is withdrawn, an error of the host itself ends the
// host.
import { writeSync } from 'node:fs';
import { thrownObject } from '../kit/causes.ts';
import { errorText } from '../kit/error-text.ts';
import { exitProcess } from '../kit/exit-process.ts';
import { keepListener } from '../kit/kept-listener.ts';
import { asHost, blamedFor, currentScope } from './invoke.ts';
import type { Scope } from './scope.ts';

/** The exit code for an internal software error, from sysexits.h. */
export const EXIT_CODE = 70;

export interface FaultHandlers {
  /** Called when a plugin's own timer or emitter threw. */
  plugin(scope: Scope, error: unknown): void;
  /**
   * The plugin whose code made the error by its stack, else `ranAs`, the plugin as which the code ran. `ranAs` alone is
   * not enough: Node loses it at times, as in `queueMicrotask`, and an accessor runs as the plugin that reads it.
   */
  ownerOf(error: object, ranAs: Scope | undefined): Scope | undefined;
  /** Called when the host itself threw; the host must end. */
  host(error: unknown): void;
}

/**
 * Handles the uncaught errors of the process. A second one while the first is being handled ends the process at once.
 * After a call of the returned function, errors of plugins are dropped, so that the host decides the exit code.
 */
export function catchUncaught(handlers: FaultHandlers): () => void {
  let handling = false;
  let isOver = false;
  const onUncaught = (thrown: unknown): void => {
    if (handling) exitProcess(EXIT_CODE);
    handling = true;
    const error = thrownObject(thrown);
    try {
      const ranAs = currentScope();
      // An error that was counted against one plugin already is now the fault of the plugin that did not catch it.
      const scope = asHost(() => (blamedFor(error) === undefined ? handlers.ownerOf(error, ranAs) : ranAs));
      if (scope === undefined && isOver) endWith(errorText(error));
      else if (scope === undefined) handlers.host(error);
      else if (!isOver) asHost(() => handlers.plugin(scope, error));
    } catch (fault) {
      // The log itself may have failed.
      endWith(`${errorText(error)}, and then ${errorText(fault)}`);
    }
    handling = false;
  };
  const onRejection = (error: unknown): void => {
    // A blamed error was counted and logged where it happened; it is here only because no caller awaited it.
    if (blamedFor(thrownObject(error)) === undefined) onUncaught(error);
  };
  keepListener('uncaughtException', onUncaught);
  keepListener('unhandledRejection', onRejection);
  return () => {
    isOver = true;
  };
}

function endWith(text: string): never {
  try {
    writeSync(process.stderr.fd, `stackwarden: ${text}\n`);
  } finally {
    exitProcess(EXIT_CODE);
  }
}
