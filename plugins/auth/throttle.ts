// Slows guessing down: a growing pause per user name after failures, and a rate per peer. Nobody is ever locked out.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { Problem } from '#core';

const FREE_FAILURES = 5;
const MAX_PAUSE_S = 60;
const MAX_NAMES = 10_000;
const PEER_RATE_PER_S = 20;
const PEER_BURST = 40;

interface Attempts {
  /** Failed in a row. */
  readonly failed: number;
  /** Not decided yet. */
  readonly open: number;
  /** When the last one began or failed. */
  readonly atMs: number;
}

export class NameThrottle {
  readonly #names = new Map<string, Attempts>();

  /**
   * Runs one attempt, which resolves with whether it succeeded. Throws a Problem 429 while the pause after earlier
   * failures lasts; those that are under way count as such, or guesses sent side by side would all be let in.
   */
  async attempt(username: string, run: () => Promise<boolean>): Promise<boolean> {
    const { failed, open, atMs } = this.#of(username);
    const count = failed + open;
    if (count >= FREE_FAILURES) {
      const pauseMs = Math.min(2 ** (count - FREE_FAILURES), MAX_PAUSE_S) * 1_000;
      const leftMs = atMs + pauseMs - performance.now();
      if (leftMs > 0) throw tooMany(Math.ceil(leftMs / 1_000));
    }
    this.#set(username, { failed, open: open + 1, atMs: performance.now() });
    let succeeded: boolean | undefined;
    try {
      succeeded = await run();
      return succeeded;
    } finally {
      const now = this.#of(username);
      const failures = succeeded === true ? 0 : now.failed + (succeeded === false ? 1 : 0);
      this.#set(username, { failed: failures, open: now.open - 1, atMs: performance.now() });
    }
  }

  #of(username: string): Attempts {
    return this.#names.get(username) ?? { failed: 0, open: 0, atMs: 0 };
  }

  /** Put at the end: the first entry is the one that was idle longest. */
  #set(username: string, attempts: Attempts): void {
    this.#names.delete(username);
    if (attempts.failed === 0 && attempts.open === 0) return;
    this.#names.set(username, attempts);
    const [oldest] = this.#names.keys();
    if (this.#names.size > MAX_NAMES && oldest !== undefined) this.#names.delete(oldest);
  }
}

export class PeerThrottle {
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  /** Throws a Problem 429 above the rate. */
  admit(peer: string, nowMs = performance.now()): void {
    const bucket = this.#buckets.get(peer) ?? { tokens: PEER_BURST, atMs: nowMs };
    bucket.tokens = Math.min(PEER_BURST, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * PEER_RATE_PER_S);
    bucket.atMs = nowMs;
    this.#buckets.delete(peer);
    this.#buckets.set(peer, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_NAMES && oldest !== undefined) this.#buckets.delete(oldest);
    if (bucket.tokens < 1) throw tooMany(1);
    bucket.tokens -= 1;
  }
}

/**
 * The last hop that is not itself a trusted proxy; the socket's own address unless that is one. Proxies are addresses or
 * networks such as `172.16.0.0/12`; what is neither is passed over.
 */
export function peerOf(
  { peer = '', headers }: { readonly peer: string | undefined; readonly headers: Readonly<Record<string, unknown>> },
  trustedProxies: readonly string[],
): string {
  const isTrusted = trustCheck(trustedProxies);
  if (!isTrusted(peer)) return peer;
  const hops = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map(hop => hop.trim())
    .filter(hop => hop !== '');
  return hops.findLast(hop => !isTrusted(hop)) ?? peer;
}

function trustCheck(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.trim().split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) continue;
    const prefix = Number(bits ?? (family === 'ipv6' ? 128 : 32));
    if (Number.isInteger(prefix) && prefix >= 0 && prefix <= (family === 'ipv6' ? 128 : 32))
      list.addSubnet(address, prefix, family);
  }
  return text => {
    // The form that a socket for both families gives to an IPv4 address.
    const address = text.replace(/^::ffff:(?=\d+\.)/i, '');
    return isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  };
}

function tooMany(seconds: number): Problem {
  return new Problem(429, `Too many attempts; try again in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
