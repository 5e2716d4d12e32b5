// Password hashes: scrypt for new ones; bcrypt hashes of older installations are verified in a thread of their own.
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import PQueue from 'p-queue';
import { Problem } from '#core';
import { startWorker } from '#kit/worker';

const COST = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const LOG2_N = Math.log2(COST.N);
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const CONCURRENT = 2;
const MAX_WAITING = 32;
const BCRYPT = /^\$2[aby]\$/;
/** What verification of an unknown user works on, so that it takes as long as any other. */
const DUMMY = `$scrypt$ln=${LOG2_N},r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);
const queue = new PQueue({ concurrency: CONCURRENT });

/** Throws a Problem 503 when too many wait already. */
export function hashPassword(password: string): Promise<string> {
  return queued(async () => {
    const salt = randomBytes(SALT_BYTES);
    const key = await derive(password, salt, KEY_BYTES, COST);
    return `$scrypt$ln=${LOG2_N},r=${COST.r},p=${COST.p}$${encode(salt)}$${encode(key)}`;
  });
}

/** `hash` undefined: nobody has that name, and the answer is false after the same work. */
export function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  if (hash !== undefined && BCRYPT.test(hash)) return queued(() => verifyBcrypt(password, hash));
  return queued(async () => (await verifyScrypt(password, hash ?? DUMMY)) && hash !== undefined);
}

/** Hashes of another kind are replaced at the next good login. */
export function isCurrent(hash: string): boolean {
  return hash.startsWith(`$scrypt$ln=${LOG2_N},r=${COST.r},p=${COST.p}$`);
}

async function verifyScrypt(password: string, hash: string): Promise<boolean> {
  const [, cost = '', r = '', p = '', salt = '', key = ''] =
    /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(hash) ?? [];
  if (key === '' || Number(cost) > LOG2_N) return false;
  const expected = Buffer.from(key, 'base64');
  const options = { ...COST, N: 2 ** Number(cost), r: Number(r), p: Number(p) };
  const found = await derive(password, Buffer.from(salt, 'base64'), expected.length, options);
  return timingSafeEqual(found, expected);
}

/** One thread per look: such hashes are rare, and gone after the first good login. */
async function verifyBcrypt(password: string, hash: string): Promise<boolean> {
  const worker = startWorker('bcrypt-worker', import.meta.url, { workerData: { password, hash } });
  try {
    const [matches] = await once(worker, 'message');
    return matches === true;
  } finally {
    await worker.terminate();
  }
}

function queued<Value>(work: () => Promise<Value>): Promise<Value> {
  if (queue.size >= MAX_WAITING) {
    throw new Problem(503, 'Too many logins at once; try again in a moment', { headers: { 'Retry-After': '2' } });
  }
  return queue.add(work);
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
