// A list of addresses and networks, such as `127.0.0.1` or `fd00::/8`; texts that are neither are ignored.
import { BlockList, type IPVersion, isIP } from 'node:net';

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

function listOf(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = '', bits] = text.trim().split('/');
    const family = familyOf(address);
    if (family === undefined) continue;
    const most = family === 'ipv6' ? 128 : 32;
    const prefix = Number(bits ?? most);
    if (Number.isInteger(prefix) && prefix >= 0 && prefix <= most) list.addSubnet(address, prefix, family);
  }
  return list;
}

function familyOf(address: string): IPVersion | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : `ipv${version as 4 | 6}`;
}
