// Moves the redirects of a service, which does not know its prefix, below that prefix.
import type { Destination } from './ui-destinations.ts';

const WITH_HOST = /^(?:(https?:)?\/\/)([^/?#\\]*)(.*)$/is;

export interface OwnPlaces {
  /** The hosts by which the browser may have addressed the gateway. */
  readonly ownHosts: readonly unknown[];
  /** Whether a path on those hosts names an interface. */
  readonly isOfUi: (path: string) => boolean;
}

/**
 * A `Location` within the service, moved below its prefix; any other as it is. Many services redirect to a full address
 * with the host of the request.
 */
export function moveRedirect(
  location: string,
  { ui: { host, port }, prefix }: Destination,
  { ownHosts, isOfUi }: OwnPlaces,
): string {
  const [, scheme = 'http:', given, rest = ''] = WITH_HOST.exec(location) ?? [];
  if (given === undefined) return location.startsWith('/') ? below(prefix, location) : location;
  const isOf = (hosts: readonly unknown[]): boolean =>
    hosts.some(known => typeof known === 'string' && plainHost(scheme, known) === plainHost(scheme, given));
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  if (isOf([`${host}:${port}`, `localhost:${port}`])) return below(prefix, path);
  return isOf(ownHosts) && !isOfUi(path) ? below(prefix, path) : location;
}

function below(prefix: string, path: string): string {
  return path.startsWith(`${prefix}/`) ? path : prefix + path;
}

/** The host in lower case and without the default port of the scheme. */
function plainHost(scheme: string, host: string): string {
  const address = `${scheme}//${host}`;
  return URL.canParse(address) && !host.includes('@') ? new URL(address).host : host;
}
