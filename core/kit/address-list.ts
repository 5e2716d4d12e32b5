// A list of addresses and networks, such as `127.0.0.1` or `fd00::/8`; texts that are neither are ignored.
import { BlockList, type IPVersion, isIP } from 'node:net';

/** Digits alone: an empty text would count as 0, the length of the network of all addresses, and -0 aborts Node. */
const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;

/** The test whether an address is in the list, or in one of its networks. */
export function addressList(texts: readonly string[]): (address: string) => boolean {
  // Made at the first question, because every start makes these tests and few answers use them.
  let known: BlockList | undefined;
  return text => {
    // A dual-stack socket shows an IPv4 peer as an IPv4-mapped IPv6 address.
    const address = text.replace(/^::ffff:(?=\d+\.)/i, '');
    const family = familyOf(address);
    if (family === undefined) return false;
    known ??= listOf(texts);
    return known.check(address, family);
  };
}

/** Whether the text is an address or a network, so that it counts in a list. */
export function isAddressOrNetwork(text: string): boolean {
  return networkIn(text) !== undefined;
}

function listOf(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const { address, prefix, family } of texts.flatMap(text => networkIn(text) ?? []))
    list.addSubnet(address, prefix, family);
  return list;
}

function networkIn(text: string): { address: string; prefix: number; family: IPVersion } | undefined {
  const [, address = '', bits] = NETWORK.exec(text.trim()) ?? [];
  const family = familyOf(address);
  if (family === undefined) return undefined;
  const most = family === 'ipv6' ? 128 : 32;
  const prefix = Number(bits ?? most);
  return prefix <= most ? { address, prefix, family } : undefined;
}

function familyOf(address: string): IPVersion | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : `ipv${version as 4 | 6}`;
}
