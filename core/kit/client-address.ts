// Identifies clients for limits that hold per client: the address behind trusted proxies, and the network that one
// client has to itself.
import { isIPv6 } from 'node:net';
import { addressList } from './address-list.ts';

/** How much of a text counts that a proxy's header holds in place of an address. */
const MAX_TEXT_LENGTH = 64;
const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * The address of the client: the socket's peer, or behind trusted proxies the last `X-Forwarded-For` hop that is none
 * of them. Proxies are given as addresses or networks such as `172.16.0.0/12`; any other text is ignored.
 */
export function findClientAddress(
  { peer = '', headers }: { readonly peer: string | undefined; readonly headers: Readonly<Record<string, unknown>> },
  trustedProxies: readonly string[],
): string {
  const isTrusted = addressList(trustedProxies);
  if (!isTrusted(peer)) return peer;
  const hops = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map(hop => withoutPort(hop.trim()))
    .filter(hop => hop !== '');
  return hops.findLast(hop => !isTrusted(hop)) ?? peer;
}

/**
 * What stands for a client: its IPv4 address, or the first 64 bits of its IPv6 address, because the rest is the
 * client's own choice.
 */
export function networkOf(address: string): string {
  const plain = withoutMapping(address);
  // The first `isIPv6` compiles a long pattern, which would delay the first answer of a host.
  if (!plain.includes(':') || !isIPv6(plain)) return plain.slice(0, MAX_TEXT_LENGTH);
  const { hostname } = new URL(`http://[${plain.split('%', 1)[0]}]`);
  const [head = '', tail = ''] = hostname.slice(1, -1).split('::');
  const [left, right] = [head, tail].map(part => part.split(':').filter(group => group !== ''));
  const groups = [...(left ?? [])];
  while (groups.length < IPV6_GROUPS - (right?.length ?? 0)) groups.push('0');
  return `${[...groups, ...(right ?? [])].slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** Some proxies add the port, which is another one for each connection of a client. */
function withoutPort(hop: string): string {
  return hop.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').replace(/^\[([^\]]*)\](?::\d+)?$/, '$1');
}

/** A dual-stack socket shows an IPv4 peer as an IPv4-mapped IPv6 address. */
function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
