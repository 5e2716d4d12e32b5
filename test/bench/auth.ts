// Authentication: what a token costs each request, and how long other requests wait while people log in.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { Tokens } from '../../plugins/auth/token.ts';
import { UserStore } from '../../plugins/auth/user-store.ts';
import { makePlace, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const RUNS = 5;
const CHECKS = 20_000;
const LOGINS = 100;
const LOGINS_AT_ONCE = 10;
const US_PER_MS = 1_000;

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const user = { username: 'first', password: 'correct horse' };

function usEach(check: () => unknown): number {
  const startedMs = performance.now();
  for (let index = 0; index < CHECKS; index += 1) check();
  return ((performance.now() - startedMs) / CHECKS) * US_PER_MS;
}

async function tokenCheck(): Promise<void> {
  const place = await makePlace();
  const store = new UserStore(`${place.configDir}/users.json`, quiet, () => undefined);
  await store.load();
  await store.update(content => ({
    ...content,
    enabled: true,
    users: [{ ...user, disabled: false, token_version: 0 }],
  }));
  const tokens = new Tokens(store, {}, { warn: () => undefined });
  const stored = store.find(user.username);
  if (stored === undefined) throw new Error('the user is missing');
  const { access } = tokens.issue(stored);
  const [head, body] = access.split('.');
  const key = createSecretKey(randomBytes(32));
  const runs: number[] = [];
  const baseline: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    runs.push(usEach(() => tokens.verify(access, 'access')));
    // The baseline computes only the signature.
    baseline.push(usEach(() => createHmac('sha256', key).update(`${head}.${body}`).digest()));
  }
  await place.remove();
  printFigure({ name: 'auth-token-check', unit: 'microseconds', runs, baseline });
}

async function latencies(base: string, isOver: () => boolean): Promise<number[]> {
  const found: number[] = [];
  while (!isOver()) {
    const startedMs = performance.now();
    await (await fetch(`${base}/health`)).arrayBuffer();
    found.push(performance.now() - startedMs);
  }
  return found.sort((a, b) => a - b);
}

const p99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;

async function logins(): Promise<void> {
  const place = await makePlace();
  const host = await startBuilt(place);
  try {
    await host.post('/auth/setup', user);
    const idleUntil = performance.now() + 3_000;
    const baseline = p99(await latencies(host.base, () => performance.now() > idleUntil));
    let left = LOGINS;
    const others = latencies(host.base, () => left <= 0);
    // A client may try 20 times a second; further attempts are refused and repeated.
    const logIn = async (): Promise<void> => {
      while (left > 0) {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(`${host.base}/auth/login`, { method: 'POST', headers, body: JSON.stringify(user) });
        await answer.arrayBuffer();
        if (answer.status === 200) left -= 1;
      }
    };
    await Promise.all(Array.from({ length: LOGINS_AT_ONCE }, logIn));
    printFigure({ name: 'auth-logins', unit: 'ms, p99 of others', runs: [p99(await others)], baseline: [baseline] });
  } finally {
    await host.end('SIGTERM');
    await place.remove();
  }
}

await tokenCheck();
await logins();
