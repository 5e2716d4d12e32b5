// Routes uncaught errors of the process to whose they are: a plugin loses its place, a fault of the host itself ends it.
import { asHost, blamedFor, currentScope } from './invoke.ts';
import type { Scope } from './scope.ts';

export interface FaultHandlers {
  /** A plugin's own timer or emitter threw. */
  plugin(scope: Scope, error: unknown): void;
  /** The host itself is at fault; it must end. */
  host(error: unknown): void;
}

/** A second uncaught error while the first is handled exits at once. */
export function catchUncaught(handlers: FaultHandlers): () => void {
  let handling = false;
  const onUncaught = (error: unknown): void => {
    if (handling) process.exit(70);
    handling = true;
    const scope = currentScope();
    if (scope === undefined) handlers.host(error);
    else asHost(() => handlers.plugin(scope, error));
    handling = false;
  };
  const onRejection = (error: unknown): void => {
    // Counted and told where it happened; that a caller did not wait for it changes nothing.
    if (blamedFor(error) === undefined) onUncaught(error);
  };
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', onRejection);
  return () => {
    process.off('uncaughtException', onUncaught);
    process.off('unhandledRejection', onRejection);
  };
}
