// Addresses that a server tells, as a feed tells where its files lie: none of them leads into this machine or its network
// unless the server itself is there.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Problem } from '../contract/problem.ts';
import { addressList } from './address-list.ts';

const MAX_LENGTH = 4_096;
const MAX_SHOWN = 200;
const CONTROL = /[\p{Cc}\s]/u;
const UNPRINTABLE = /[^\x20-\x7e]+/g;
const isInside = addressList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  // IPv6 addresses that reach IPv4 ones; those that only stand for them are judged as these.
  '64:ff9b::/96',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
]);

/**
 * The address that `text` stands for, read from what the server at `from` has answered. Throws a Problem 502 for one that
 * may not be asked: of another scheme than https (http where `from` has it), with a user or control characters, or in
 * this machine or its network, unless `from` has the same host or is there as well.
 */
export async function toldUrl(text: string, from: string | URL): Promise<URL> {
  const teller = new URL(from);
  const refused = (why: string) => {
    const shown = JSON.stringify(text.slice(0, MAX_SHOWN).replace(UNPRINTABLE, ' '));
    return new Problem(
      502,
      `${teller.host} leads to ${shown}, ${why}; nothing was fetched from there, try again later`,
    );
  };
  if (text.length > MAX_LENGTH || CONTROL.test(text) || !URL.canParse(text, teller.href))
    throw refused('which is no address');
  const url = new URL(text, teller);
  if (url.protocol !== 'https:' && (url.protocol !== 'http:' || teller.protocol !== 'http:'))
    throw refused('which is not by https');
  if (url.username !== '' || url.password !== '') throw refused('an address with a user');
  if (url.host === teller.host || !(await leadsInside(url)) || (await leadsInside(teller))) return url;
  throw refused('which lies in this machine or its network');
}

/** A name that nobody knows leads nowhere. */
async function leadsInside({ hostname }: URL): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return isInside(host);
  if (/(^|\.)(localhost|local|internal|lan|home)$/i.test(host) || !host.includes('.')) return true;
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some(({ address }) => isInside(address));
}
