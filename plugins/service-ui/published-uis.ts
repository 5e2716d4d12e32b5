// Which web interfaces a reverse proxy may publish: the host's own API only while its callers must log in.
import type { PublishedUis, ServiceUi } from './contract.ts';

export function publishedUis(uis: readonly ServiceUi[], mustLogIn: boolean): PublishedUis {
  if (mustLogIn) return { uis, warnings: [] };
  return {
    uis: uis.filter(({ isHost }) => !isHost),
    warnings: uis
      .filter(({ isHost }) => isHost)
      .map(
        ({ processName, name }) =>
          `${processName} gets no route /service/ui/${name} in the reverse proxy while authentication is off: everybody ` +
          'who reaches the proxy would be in control; switch authentication on to publish it',
      ),
  };
}
