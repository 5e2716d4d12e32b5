// Slows down password guessing: a growing pause for each client and user, a rate for each client. What one client does
// delays no other, and no lock is permanent.
import { createHash } from 'node:crypto';
import { Problem } from '#core';

const FAILURES_BEFORE_PAUSE = 5;
const MAX_PAUSE_S = 60;
/** How many attempts of one client may wait for their hash at once, so that no client fills the queue of all. */
const MAX_IN_FLIGHT = 8;
/** Above this number the entry that was idle longest is forgotten, so that invented names cannot exhaust the memory. */
const MAX_ENTRIES = 10_000;
const CLIENT_RATE_PER_S = 20;
const CLIENT_BURST = 40;

interface Attempts {
  readonly consecutiveFailures: number;
  readonly inFlight: number;
  /** When an attempt last began or ended, on the clock of `performance.now()`. */
  readonly lastEventMs: number;
}

export class LoginThrottle {
  readonly #attempts = new RecentEntries<Attempts>();
  readonly #inFlight = new Map<string, number>();
  readonly #known = new RecentEntries<true>();

  /** Whether a user has logged in from this client before. */
  isKnown(client: string): boolean {
    return this.#known.get(client) === true;
  }

  /**
   * Runs one attempt of a client to log in; `run` resolves with whether it succeeded. Throws a Problem 429 during the
   * pause after earlier failures of this client with this user. Attempts in flight count as failures, so that guesses
   * sent in parallel are not all admitted.
   */
  async attempt(client: string, username: string, run: () => Promise<boolean>): Promise<boolean> {
    const key = `${client} ${createHash('sha256').update(username).digest('base64')}`;
    const before = this.#find(key);
    const count = before.consecutiveFailures + before.inFlight;
    if (count >= FAILURES_BEFORE_PAUSE) {
      const pauseMs = Math.min(2 ** (count - FAILURES_BEFORE_PAUSE), MAX_PAUSE_S) * 1_000;
      const remainingMs = before.lastEventMs + pauseMs - performance.now();
      if (remainingMs > 0) throw tooManyAttempts(Math.ceil(remainingMs / 1_000));
    }
    if ((this.#inFlight.get(client) ?? 0) >= MAX_IN_FLIGHT) throw tooManyAttempts(1);
    this.#countInFlight(client, 1);
    this.#set(key, { ...before, inFlight: before.inFlight + 1, lastEventMs: performance.now() });
    let succeeded: boolean | undefined;
    try {
      succeeded = await run();
      if (succeeded) this.#known.set(client, true);
      return succeeded;
    } finally {
      this.#countInFlight(client, -1);
      const current = this.#find(key);
      // An attempt that threw was neither right nor wrong, so it leaves the number of failures as it is.
      const failures = succeeded === true ? 0 : current.consecutiveFailures + (succeeded === false ? 1 : 0);
      this.#set(key, {
        consecutiveFailures: failures,
        inFlight: Math.max(0, current.inFlight - 1),
        lastEventMs: performance.now(),
      });
    }
  }

  #find(key: string): Attempts {
    return this.#attempts.get(key) ?? { consecutiveFailures: 0, inFlight: 0, lastEventMs: 0 };
  }

  #set(key: string, attempts: Attempts): void {
    if (attempts.consecutiveFailures === 0 && attempts.inFlight === 0) this.#attempts.delete(key);
    else this.#attempts.set(key, attempts);
  }

  #countInFlight(client: string, change: number): void {
    const count = (this.#inFlight.get(client) ?? 0) + change;
    if (count === 0) this.#inFlight.delete(client);
    else this.#inFlight.set(client, count);
  }
}

export class ClientThrottle {
  readonly #buckets = new RecentEntries<{ readonly tokens: number; readonly refilledMs: number }>();

  /** Counts one request of a client. Throws a Problem 429 when the client is above the rate. */
  admit(client: string, nowMs = performance.now()): void {
    const { tokens, refilledMs } = this.#buckets.get(client) ?? { tokens: CLIENT_BURST, refilledMs: nowMs };
    const refill = ((nowMs - refilledMs) / 1_000) * CLIENT_RATE_PER_S;
    const available = Math.min(CLIENT_BURST, tokens + refill);
    this.#buckets.set(client, { tokens: available < 1 ? available : available - 1, refilledMs: nowMs });
    if (available < 1) throw tooManyAttempts(1);
  }
}

/** A map of limited size, whose first entry is the one that was set longest ago. */
class RecentEntries<Value> {
  readonly #entries = new Map<string, Value>();

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

function tooManyAttempts(seconds: number): Problem {
  return new Problem(429, `Too many attempts; try again in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  });
}
