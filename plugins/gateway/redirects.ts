// Keeps the redirects of a service, which knows nothing of its prefix, below that.
import type { Destination } from './ui-destinations.ts';

const WITH_HOST = /^(?:(https?:)?\/\/)([^/?#\\]*)(.*)$/is;

export interface OwnPlaces {
  /** Those by which the browser asks. */
  readonly ownHosts: readonly unknown[];
  /** Whether a path there is that of an interface. */
  readonly isOfUi: (path: string) => boolean;
}

/**
 * A redirect within the service below its prefix; one to elsewhere as it is. Many services make a whole address of the
 * host by which they are asked.
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

/** In small letters and without the usual port. */
function plainHost(scheme: string, host: string): string {
  const address = `${scheme}//${host}`;
  return URL.canParse(address) && !host.includes('@') ? new URL(address).host : host;
}
