// The trusted proxies in front of the gateway, as the configuration names them at the moment.
import type { Host } from '#core';
import { addressList } from '#kit/address-list';

/** Whether an address is that of a trusted proxy. The list is read anew when it has changed. */
export function trustedProxies(host: Host): (address: string) => boolean {
  let known: { readonly texts: unknown; readonly has: (address: string) => boolean } | undefined;
  return address => {
    const texts = host.find('config.store')?.get('dumb.api_service.trusted_proxies');
    if (known === undefined || known.texts !== texts)
      known = { texts, has: addressList(Array.isArray(texts) ? texts : []) };
    return known.has(address);
  };
}
