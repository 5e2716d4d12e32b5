// Hashes and verifies passwords off the event loop: scrypt for new hashes, bcrypt for those of older installations.
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Problem } from '#core';
import { withDeadline } from '#kit/deadline';
import { WorkQueue } from '#kit/work-queue';
import { startWorker } from '#kit/worker';

const SCRYPT_COST = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const LOG2_N = Math.log2(SCRYPT_COST.N);
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const MAX_CONCURRENT = 2;
const MAX_QUEUED = 32;
/** The user file sets the cost of a bcrypt hash, and an absurd cost would occupy the queue of all logins for days. */
const BCRYPT_LIMIT_MS = 30_000;
const BCRYPT_HASH = /^\$2[aby]\$/;
const BCRYPT_COST = /^\$2[aby]\$(\d\d)\$/;
/** The highest bcrypt cost that gets a decoy: a more expensive one would delay every failed login by many seconds. */
const MAX_DECOY_COST = 14;
/**
 * Limits the salt and the key, which the user file sets, too: a long key would take long to derive, and an empty one
 * would match every password.
 */
const SCRYPT_HASH = /^\$scrypt\$ln=([1-9]\d?),r=([1-9]),p=([1-9])\$([\w+/]{16,86})\$([\w+/]{22,86})$/;
const MAX_SCRYPT_P = 5;
/**
 * The password of an unknown user is compared with this hash, so that the time of an answer does not tell who exists.
 */
const DUMMY_HASH = `$scrypt$ln=${LOG2_N},r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);
const queue = new WorkQueue({ concurrency: MAX_CONCURRENT });

/** Returns a scrypt hash in the `$scrypt$` string form. Throws a Problem 503 when too many hashes are waiting. */
export function hashPassword(password: string): Promise<string> {
  return enqueue(async () => {
    const salt = randomBytes(SALT_BYTES);
    const key = await derive(password, salt, KEY_BYTES, SCRYPT_COST);
    return `$scrypt$ln=${LOG2_N},r=${SCRYPT_COST.r},p=${SCRYPT_COST.p}$${encodeBase64(salt)}$${encodeBase64(key)}`;
  }, true);
}

/**
 * Whether the password matches the hash. Without a hash (the user is unknown) the answer is false after the same work.
 * Urgent comparisons go first. Throws a Problem 503 when too many hashes are waiting, and an Error when bcrypt takes
 * longer than `limitMs`.
 */
export function verifyPassword(
  password: string,
  hash: string | undefined,
  { isUrgent = false, limitMs = BCRYPT_LIMIT_MS } = {},
): Promise<boolean> {
  if (hash !== undefined && BCRYPT_HASH.test(hash))
    return enqueue(() => verifyBcrypt(password, hash, limitMs), isUrgent);
  return enqueue(async () => (await verifyScrypt(password, hash ?? DUMMY_HASH)) && hash !== undefined, isUrgent);
}

/**
 * Hashes that match no password: one for each algorithm and cost among `hashes`, except those of `own`, the hash that
 * was compared already. A failed login that compares all of them, too, takes the same time for every user name.
 */
export function decoysFor(own: string | undefined, hashes: readonly string[]): string[] {
  const decoys = new Set([DUMMY_HASH, ...hashes.flatMap(hash => decoyOf(hash) ?? [])]);
  decoys.delete(decoyOf(own ?? DUMMY_HASH) ?? '');
  return [...decoys];
}

/**
 * A hash that matches no password and costs as much as `hash`; equal for hashes of equal cost. undefined when the cost
 * is too high for a decoy, or when `hash` cannot be compared at all.
 */
function decoyOf(hash: string): string | undefined {
  const [, bcryptCost] = BCRYPT_COST.exec(hash) ?? [];
  if (bcryptCost !== undefined)
    return Number(bcryptCost) <= MAX_DECOY_COST ? `$2b$${bcryptCost}$${'.'.repeat(53)}` : undefined;
  const { N = 0, r, p } = parseScrypt(hash)?.options ?? {};
  return N === 0 ? undefined : `$scrypt$ln=${Math.log2(N)},r=${r},p=${p}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
}

/** Whether there is a way to compare passwords with the hash. */
export function isKnownHash(hash: string): boolean {
  return BCRYPT_HASH.test(hash) || parseScrypt(hash) !== undefined;
}

/** Whether the hash has the algorithm and cost of new hashes. Others are replaced when their user logs in. */
export function isCurrentHash(hash: string): boolean {
  return hash.startsWith(`$scrypt$ln=${LOG2_N},r=${SCRYPT_COST.r},p=${SCRYPT_COST.p}$`);
}

interface ScryptHash {
  readonly options: ScryptOptions;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** The parts of a scrypt hash; undefined when it is none, or when it costs more than a login may. */
function parseScrypt(hash: string): ScryptHash | undefined {
  const [, cost, r, p, salt = '', key = ''] = SCRYPT_HASH.exec(hash) ?? [];
  const options = { ...SCRYPT_COST, N: 2 ** Number(cost), r: Number(r), p: Number(p) };
  const isWithin = options.N <= SCRYPT_COST.N && options.r <= SCRYPT_COST.r && options.p <= MAX_SCRYPT_P;
  return isWithin ? { options, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') } : undefined;
}

async function verifyScrypt(password: string, hash: string): Promise<boolean> {
  const parsed = parseScrypt(hash);
  if (parsed === undefined) return false;
  const derived = await derive(password, parsed.salt, parsed.key.length, parsed.options);
  return timingSafeEqual(derived, parsed.key);
}

/** A bcrypt hash is replaced at its user's first login, so a new thread for each comparison is affordable. */
async function verifyBcrypt(password: string, hash: string, limitMs: number): Promise<boolean> {
  const worker = startWorker('bcrypt-worker', import.meta.url, { workerData: { password, hash } });
  try {
    const [matches] = await withDeadline(
      () => once(worker, 'message'),
      limitMs,
      'comparing a password with its bcrypt hash',
    );
    return matches === true;
  } finally {
    await worker.terminate();
  }
}

/** Urgent and other work have a limit each, so that a flood of guesses leaves room for clients that are known. */
function enqueue<Value>(work: () => Promise<Value>, isUrgent: boolean): Promise<Value> {
  const priority = isUrgent ? 1 : 0;
  if (queue.sizeBy({ priority }) >= MAX_QUEUED) {
    throw new Problem(503, 'Too many logins at once; try again in a moment', { headers: { 'Retry-After': '2' } });
  }
  return queue.add(work, { priority });
}

function encodeBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
