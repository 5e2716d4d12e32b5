// Looks a provider's host up once, and judges every address: a request goes to an address that was judged, or nowhere.
import { lookup } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import { Problem } from '#core';
import { addressList } from '#kit/address-list';

export interface TargetAddresses {
  readonly addresses: readonly string[];
  /** Whether all of them are on the internet, so that a proxy may be used. */
  readonly isPublic: boolean;
}

/** First parts of the names of services in clouds that give secrets away to whoever asks. */
const REFUSED_NAMES = new Set(['metadata', 'instance-data']);
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

/**
 * Throws a Problem 400 for an address that is never asked, or for a port of this host itself on loopback, and what the
 * lookup throws.
 */
export async function judgeTarget(url: URL, ownPorts: readonly number[]): Promise<TargetAddresses> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (REFUSED_NAMES.has(host.split('.')[0]?.toLowerCase() ?? '')) throw refusal(url);
  const found = isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host }];
  const addresses = found.map(({ address }) => address);
  const judged = addresses.map(address => embeddedIpv4(address) ?? address);
  if (judged.some(isRefused)) throw refusal(url);
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  if (judged.some(isLoopback) && ownPorts.includes(port))
    throw new Problem(400, `base_url leads to this host itself (port ${port}); enter the address of the model service`);
  return { addresses, isPublic: !judged.some(address => isLoopback(address) || isPrivate(address)) };
}

function refusal({ host }: URL): Problem {
  return new Problem(400, `base_url leads to ${host}, an address that is never asked; enter that of the model service`);
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
