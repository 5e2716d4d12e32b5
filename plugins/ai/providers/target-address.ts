// Looks up the host of a provider once and judges every address. A request goes only to an address that was judged.
import { Problem } from '#core';
import { addressesOf, addressKind } from '#kit/address-kind';

export interface TargetAddresses {
  readonly addresses: readonly string[];
  /** Whether all addresses are public, so that a proxy may be used. */
  readonly isPublic: boolean;
}

/** First labels of the names of cloud metadata services, which give secrets to every client. */
const REFUSED_NAMES = new Set(['metadata', 'instance-data']);

/**
 * Rejects with a Problem 400 for an address that is never asked and for a port of this host on loopback, and with the
 * error of the lookup.
 */
export async function judgeTarget(url: URL, ownPorts: readonly number[]): Promise<TargetAddresses> {
  if (REFUSED_NAMES.has(url.hostname.split('.')[0]?.toLowerCase() ?? '')) throw refusal(url);
  const addresses = await addressesOf(url);
  const kinds = new Set(addresses.map(addressKind));
  if (kinds.has('refused')) throw refusal(url);
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  if (kinds.has('loopback') && ownPorts.includes(port))
    throw new Problem(400, `base_url leads to this host itself (port ${port}); enter the address of the model service`);
  return { addresses, isPublic: !kinds.has('loopback') && !kinds.has('private') };
}

function refusal({ host }: URL): Problem {
  return new Problem(400, `base_url leads to ${host}, an address that is never asked; enter that of the model service`);
}
