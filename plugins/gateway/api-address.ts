// The address of the API's own listener: the gateway shows it to users, and cannot listen on the same port.
import type { ConfigObject, Host } from '#core';
import { clientHost, urlHost } from '#kit/client-host';
import { isObject } from '#kit/plain-object';

export function nativeUrl(host: Host): string {
  const store = host.find('config.store');
  const name = urlHost(clientHost(store?.get('dumb.api_service.host')));
  return `http://${name}:${store?.get('dumb.api_service.port') ?? 8000}`;
}

/** Reports a port that the configuration gives to both the API and the gateway, when it is saved and in a review. */
export function tellSharedPort(host: Host): void {
  host.tap('config.check', ({ before, after, warnings }) => {
    const shared = sharedPort(after);
    if (shared !== undefined && shared !== sharedPort(before)) warnings.push(shared);
  });
  host.tap('config.review', ({ problems }) => {
    const shared = sharedPort(host.find('config.store')?.root() ?? {});
    if (shared !== undefined) problems.push(shared);
  });
}

/** The report, as one sentence; undefined when both can listen. */
function sharedPort(root: Readonly<ConfigObject>): string | undefined {
  const dumb = isObject(root.dumb) ? root.dumb : {};
  const [api, gateway] = [dumb.api_service, dumb.gateway].map(value => (isObject(value) ? value : {}));
  if (gateway?.enabled === false || gateway?.port !== api?.port || !Number(api?.port)) return undefined;
  const hosts = [String(api?.host), String(gateway?.host)];
  if (hosts[0] !== hosts[1] && !hosts.some(isEvery)) return undefined;
  return `dumb.gateway.port: ${String(api?.port)} is also dumb.api_service.port, so the gateway cannot listen; give it another`;
}

function isEvery(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}
