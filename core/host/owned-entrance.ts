// The entrance as plugins get it: the handlers of a plugin's own listener run as code of the plugin, and an error in
// them costs only the request that caused it.
import type { HttpEntrance } from '../contract/route.ts';
import type { Call } from '../kit/owner.ts';
import { refuse, refuseSocket } from '../kit/refusal.ts';
import { currentScope } from './invoke.ts';

const REQUEST: Call = { place: 'callback', what: 'a listener of its own', deadlineMs: 60_000 };
const FAULT = 'Internal error';

export function ownedEntrance(entrance: HttpEntrance): HttpEntrance {
  const { handle, upgrade, allowCut, isStream, allowsOrigin, mustLogIn, ports, open } = entrance;
  return {
    handle,
    upgrade,
    allowCut,
    isStream,
    allowsOrigin,
    mustLogIn,
    ports,
    open(options) {
      const scope = currentScope();
      if (scope === undefined) return open(options);
      /** Serves one request. `invoke` counts and logs an error, after which `giveUp` answers. */
      const attempt = async (serve: () => unknown, giveUp: () => void): Promise<void> => {
        try {
          await scope.invoke(REQUEST, serve);
        } catch {
          giveUp();
        }
      };
      return open({
        ...options,
        request(request, response) {
          const giveUp = (): void => {
            if (response.headersSent) response.destroy();
            else refuse(response, 500, FAULT);
          };
          void attempt(() => options.request(request, response), giveUp);
        },
        upgrade(request, socket, head) {
          void attempt(
            () => options.upgrade(request, socket, head),
            () => refuseSocket(socket, 500, FAULT),
          );
        },
      });
    },
  };
}
