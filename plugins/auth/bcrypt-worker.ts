// A worker thread that compares one password with one bcrypt hash. bcrypt hashes the first 72 bytes of a password only.
import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

const MAX_PASSWORD_BYTES = 72;

const { password, hash } = workerData as { readonly password: string; readonly hash: string };
const bytes = Buffer.from(password, 'utf8');
// A character that the limit would cut is left out, because a string cannot hold a part of a character.
const significant =
  bytes.length <= MAX_PASSWORD_BYTES
    ? password
    : bytes
        .subarray(0, MAX_PASSWORD_BYTES)
        .toString('utf8')
        .replace(/\uFFFD$/, '');
parentPort?.postMessage(compareSync(significant, hash));
