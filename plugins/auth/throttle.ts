// Slows guessing down: a growing pause per user name after failures, and a rate per peer. Nobody is ever locked out.
import { Problem } from '#core';

const FREE_FAILURES = 5;
const MAX_PAUSE_S = 60;
const MAX_NAMES = 10_000;
const PEER_RATE_PER_S = 20;
const PEER_BURST = 40;

interface Failures {
  readonly count: number;
  readonly atMs: number;
}

export class NameThrottle {
  readonly #failures = new Map<string, Failures>();

  /** Throws a Problem 429 while the pause after earlier failures lasts. */
  admit(username: string, nowMs = performance.now()): void {
    const { count, atMs } = this.#failures.get(username) ?? { count: 0, atMs: 0 };
    if (count < FREE_FAILURES) return;
    const pauseMs = Math.min(2 ** (count - FREE_FAILURES), MAX_PAUSE_S) * 1_000;
    const leftMs = atMs + pauseMs - nowMs;
    if (leftMs > 0) throw tooMany(Math.ceil(leftMs / 1_000));
  }

  failed(username: string, nowMs = performance.now()): void {
    const count = (this.#failures.get(username)?.count ?? 0) + 1;
    // Written again at the end: the first entry is the one that was idle longest.
    this.#failures.delete(username);
    this.#failures.set(username, { count, atMs: nowMs });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_NAMES && oldest !== undefined) this.#failures.delete(oldest);
  }

  succeeded(username: string): void {
    this.#failures.delete(username);
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

/** The last hop that is not itself a trusted proxy; the socket's own address unless that is one. */
export function peerOf(
  { peer = '', headers }: { readonly peer: string | undefined; readonly headers: Readonly<Record<string, unknown>> },
  trustedProxies: readonly string[],
): string {
  if (!trustedProxies.includes(peer)) return peer;
  const hops = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map(hop => hop.trim())
    .filter(hop => hop !== '');
  return hops.findLast(hop => !trustedProxies.includes(hop)) ?? peer;
}

function tooMany(seconds: number): Problem {
  return new Problem(429, `Too many attempts; try again in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
