// The form in which rclone stores passwords: each time another text for the same password. Source: lib/obscure of
// rclone, whose key is public.
import { execFile } from 'node:child_process';
import { createDecipheriv } from 'node:crypto';
import { Problem } from '#core';
import { publicEnvironment } from '#kit/public-environment';

const LIMIT_MS = 10_000;
const CIPHER = 'aes-256-ctr';
const KEY = Buffer.from('9c935b48730a554d6bfd7c63c886a92bd390198eb8128afbf4de162b8b95f638', 'hex');
const IV_BYTES = 16;

/** `present` if that stands for the password, so that a file which is right stays as it is; else a new form. */
export async function obscured(password: string, present: unknown): Promise<string> {
  return typeof present === 'string' && revealed(present) === password ? present : obscure(password);
}

/** The password that the text stands for; some other text where it is no form of rclone's. */
function revealed(text: string): string {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length < IV_BYTES) return '';
  const decipher = createDecipheriv(CIPHER, KEY, bytes.subarray(0, IV_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES)), decipher.final()]).toString('utf8');
}

/** The password is passed on standard input, which other users cannot see. */
function obscure(password: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: LIMIT_MS, cwd: '/', env: publicEnvironment(process.env) };
    const child = execFile('rclone', ['obscure', '-'], options, (error, stdout) => {
      if (error === null) resolve(stdout.trim());
      else reject(new Problem(500, 'rclone could not store the password of its remote', { cause: error }));
    });
    // A program that ends without reading its input reports its failure by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(password);
  });
}
