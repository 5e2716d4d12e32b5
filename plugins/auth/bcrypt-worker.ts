// Compares one password with one bcrypt hash. bcrypt reads no more than 72 bytes, and hashes were made of no more.
import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

const MAX_BYTES = 72;

const { password, hash } = workerData as { readonly password: string; readonly hash: string };
const bytes = Buffer.from(password, 'utf8');
// A cut inside a character has no text form, so the longest text below the limit is what is compared.
const text =
  bytes.length <= MAX_BYTES
    ? password
    : bytes
        .subarray(0, MAX_BYTES)
        .toString('utf8')
        .replace(/\uFFFD$/, '');
parentPort?.postMessage(compareSync(text, hash));
