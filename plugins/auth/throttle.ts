// Slows down password guessing: a growing pause per user name, a rate limit per client. No lock is permanent.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { Problem } from '#core';

const FAILURES_BEFORE_PAUSE = 5;
const MAX_PAUSE_S = 60;
/** Beyond this the entry that was idle longest is forgotten, so that invented names cannot exhaust the memory. */
const MAX_ENTRIES = 10_000;
const PEER_RATE_PER_S = 20;
const PEER_BURST = 40;

interface Attempts {
  readonly consecutiveFailures: number;
  readonly inFlight: number;
  /** When an attempt last began or ended, on the clock of `performance.now()`. */
  readonly lastEventMs: number;
}

export class NameThrottle {
  readonly #attempts = new Map<string, Attempts>();

  /**
   * Runs one attempt to log in; `run` resolves with whether it succeeded. Throws a Problem 429 during the pause after
   * earlier failures. Attempts in flight count as failures, so that guesses sent in parallel are not all admitted.
   */
  async attempt(username: string, run: () => Promise<boolean>): Promise<boolean> {
    const { consecutiveFailures, inFlight, lastEventMs } = this.#find(username);
    const count = consecutiveFailures + inFlight;
    if (count >= FAILURES_BEFORE_PAUSE) {
      const pauseMs = Math.min(2 ** (count - FAILURES_BEFORE_PAUSE), MAX_PAUSE_S) * 1_000;
      const remainingMs = lastEventMs + pauseMs - performance.now();
      if (remainingMs > 0) throw tooManyAttempts(Math.ceil(remainingMs / 1_000));
    }
    this.#set(username, { consecutiveFailures, inFlight: inFlight + 1, lastEventMs: performance.now() });
    let succeeded: boolean | undefined;
    try {
      succeeded = await run();
      return succeeded;
    } finally {
      const current = this.#find(username);
      // An attempt that threw was neither right nor wrong, so it leaves the number of failures as it is.
      const failures = succeeded === true ? 0 : current.consecutiveFailures + (succeeded === false ? 1 : 0);
      this.#set(username, {
        consecutiveFailures: failures,
        inFlight: current.inFlight - 1,
        lastEventMs: performance.now(),
      });
    }
  }

  #find(username: string): Attempts {
    return this.#attempts.get(username) ?? { consecutiveFailures: 0, inFlight: 0, lastEventMs: 0 };
  }

  /** Each entry that is set moves to the end, so the first entry is the one that was idle longest. */
  #set(username: string, attempts: Attempts): void {
    this.#attempts.delete(username);
    if (attempts.consecutiveFailures === 0 && attempts.inFlight === 0) return;
    this.#attempts.set(username, attempts);
    const [oldest] = this.#attempts.keys();
    if (this.#attempts.size > MAX_ENTRIES && oldest !== undefined) this.#attempts.delete(oldest);
  }
}

export class PeerThrottle {
  readonly #buckets = new Map<string, { tokens: number; refilledMs: number }>();

  /** Counts one request of a client. Throws a Problem 429 when the client is above the rate. */
  admit(peer: string, nowMs = performance.now()): void {
    const bucket = this.#buckets.get(peer) ?? { tokens: PEER_BURST, refilledMs: nowMs };
    const refill = ((nowMs - bucket.refilledMs) / 1_000) * PEER_RATE_PER_S;
    bucket.tokens = Math.min(PEER_BURST, bucket.tokens + refill);
    bucket.refilledMs = nowMs;
    this.#buckets.delete(peer);
    this.#buckets.set(peer, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_ENTRIES && oldest !== undefined) this.#buckets.delete(oldest);
    if (bucket.tokens < 1) throw tooManyAttempts(1);
    bucket.tokens -= 1;
  }
}

/**
 * The address of the client: the socket's peer, or behind trusted proxies the last `X-Forwarded-For` hop that is none
 * of them. Proxies are given as addresses or networks such as `172.16.0.0/12`; any other text is ignored.
 */
export function findClientAddress(
  { peer = '', headers }: { readonly peer: string | undefined; readonly headers: Readonly<Record<string, unknown>> },
  trustedProxies: readonly string[],
): string {
  const isTrusted = createTrustCheck(trustedProxies);
  if (!isTrusted(peer)) return peer;
  const hops = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map(hop => hop.trim())
    .filter(hop => hop !== '');
  return hops.findLast(hop => !isTrusted(hop)) ?? peer;
}

function createTrustCheck(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.trim().split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) continue;
    const prefix = Number(bits ?? (family === 'ipv6' ? 128 : 32));
    if (Number.isInteger(prefix) && prefix >= 0 && prefix <= (family === 'ipv6' ? 128 : 32))
      trusted.addSubnet(address, prefix, family);
  }
  return text => {
    // A dual-stack socket shows an IPv4 peer as an IPv4-mapped IPv6 address.
    const address = text.replace(/^::ffff:(?=\d+\.)/i, '');
    return isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  };
}

function tooManyAttempts(seconds: number): Problem {
  return new Problem(429, `Too many attempts; try again in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
