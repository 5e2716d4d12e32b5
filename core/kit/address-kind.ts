// Tells whether an address belongs to the internet, to a private network or to this machine, or to none that a user
// means.
import { lookup } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import { addressList } from './address-list.ts';

export type AddressKind = 'public' | 'private' | 'loopback' | 'refused';

/** Addresses that are no usual hosts, and those of cloud metadata services, which give secrets to any client. */
const isRefused = addressList([
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '100.100.100.200',
  '::',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::254',
  'fd20:ce::254',
]);
const isLoopback = addressList(['127.0.0.0/8', '::1']);
const isPrivate = addressList(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']);

export function addressKind(address: string): AddressKind {
  const judged = embeddedIpv4(address) ?? address;
  if (isRefused(judged)) return 'refused';
  if (isLoopback(judged)) return 'loopback';
  return isPrivate(judged) ? 'private' : 'public';
}

/** The addresses of the host of a URL. Throws what the lookup of its name throws. */
export async function addressesOf({ hostname }: URL): Promise<string[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** The IPv4 address that an IPv6 one stands for: mapped, translated by NAT64, or 6to4. */
function embeddedIpv4(address: string): string | undefined {
  const groups = groupsOf(address);
  if (groups === undefined) return undefined;
  const [first, second, third, fourth, fifth, sixth, seventh = 0, eighth = 0] = groups;
  const isZero = [third, fourth, fifth].every(group => group === 0);
  const isMapped = first === 0 && second === 0 && isZero && sixth === 0xffff;
  const isTranslated = first === 0x64 && second === 0xff9b && isZero && sixth === 0;
  if (isMapped || isTranslated) return dotted(seventh, eighth);
  return first === 0x2002 ? dotted(second ?? 0, third ?? 0) : undefined;
}

/** The eight numbers of an IPv6 address; undefined for any other. */
function groupsOf(address: string): number[] | undefined {
  const bare = address.split('%')[0] ?? '';
  if (isIPv4(bare) || isIP(bare) === 0) return undefined;
  // The URL writes every form in hexadecimal groups.
  const text = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [head = '', tail] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].map(group => Number.parseInt(group, 16));
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
