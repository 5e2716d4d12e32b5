// The log hub as plugins get it: each listener runs as code of its plugin, and is removed with the plugin or after its
// first failure.
import type { LogHub } from '../contract/log.ts';
import type { Call } from '../kit/owner.ts';
import { currentScope } from './invoke.ts';

const LISTENER: Call = { place: 'callback', what: 'a listener of the log (it hears no more)', deadlineMs: 10_000 };

export function ownedLogHub(hub: LogHub): LogHub {
  return {
    ...hub,
    subscribe(listener) {
      const scope = currentScope();
      if (scope === undefined) return hub.subscribe(listener);
      const end = scope.own(
        hub.subscribe(records => {
          const told = async (): Promise<void> => scope.invoke(LISTENER, () => listener(records));
          // `invoke` has logged the error, and the listener would probably fail at that line of the log too.
          told().catch(() => end());
        }),
      );
      return end;
    },
  };
}
