// The log as plugins subscribe to it: each listener runs as its plugin's, and ends with that plugin or with its first
// failure.
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
          // It was told of, in a line that the same listener would fail at.
          told().catch(() => end());
        }),
      );
      return end;
    },
  };
}
