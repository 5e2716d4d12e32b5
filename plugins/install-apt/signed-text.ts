// Texts with an inline signature: gpgv checks them and returns the signed part. It runs as the user nobody, because it
// parses data from outside.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Problem } from '#core';
import { runChild } from '#kit/fs-out-of-process';

const LIMIT_MS = 20_000;
const NOBODY = 65_534;
/** The line for a valid signature; its last word is the fingerprint of the primary key. */
const GOOD = /^\[GNUPG:\] VALIDSIG [^\n]* ([0-9A-F]{40,64})$/gm;
/** Lines for bad signatures. A signature by an unknown key is not one: it does no harm beside a good one. */
const BAD = /^\[GNUPG:\] (?:BADSIG|EXPSIG|EXPKEYSIG|REVKEYSIG|FAILURE) /m;

export interface SignedText {
  readonly text: string;
  /** The fingerprints of the primary keys that have signed it. */
  readonly signers: readonly string[];
}

/**
 * The part of the text that is signed by the key. Throws a Problem 502 when it is not signed by that key, and 400 when
 * the machine has no gpgv. `host` is where the text comes from.
 */
export async function signedText(text: string, key: Buffer, host: string): Promise<SignedText> {
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-signed-'));
  try {
    const [keyFile, textFile] = [path.join(directory, 'key.gpg'), path.join(directory, 'text')];
    // Readable for the user nobody, but not writable.
    await chmod(directory, 0o755);
    await writeFile(keyFile, key, { mode: 0o644 });
    await writeFile(textFile, text, { mode: 0o644 });
    const check = (...words: string[]) => gpgv(['--homedir', directory, '--keyring', keyFile, ...words, textFile]);
    const { output: told } = await check('--status-fd', '1');
    const signers = [...told.matchAll(GOOD)].flatMap(([, fingerprint]) => fingerprint ?? []);
    if (signers.length === 0 || BAD.test(told))
      throw new Problem(502, `The lists of ${host} are not signed by its key; nothing was installed, try again later`);
    return { text: (await check('--output', '-')).output, signers };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function gpgv(args: readonly string[]) {
  const user = process.geteuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  return runChild('gpgv', args, LIMIT_MS, user).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new Problem(400, 'gpgv, which checks the signatures of packages, is not installed; run apt-get install gpgv');
  });
}
