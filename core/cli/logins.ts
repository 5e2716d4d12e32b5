// The tokens of `stackwarden login`, by the address of the host that issued them, in a file that only the user may
// read.
import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { LoginTokens } from '../contract/command.ts';
import { makeDirectory } from '../kit/make-directory.ts';
import { isObject } from '../kit/plain-object.ts';
import { isTemporary, PrivateDirectory } from '../kit/private-directory.ts';

const DIRECTORY = 'stackwarden';
const FILE = 'logins.json';
const MAX_BYTES = 1024 * 1024;
/** Commands may run at the same time: a younger temporary file may be that of another, which goes on. */
const LEFT_MS = 60_000;

export class Logins {
  /** The directory in which programs of this user keep their settings. */
  readonly #parent: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.#parent = env.XDG_CONFIG_HOME || path.join(env.HOME || homedir(), '.config');
  }

  async of(url: string): Promise<LoginTokens | undefined> {
    const directory = await PrivateDirectory.open(this.#parent, [DIRECTORY], { create: false });
    if (directory === null) return undefined;
    try {
      return (await this.#read(directory)).get(url);
    } finally {
      await directory.close();
    }
  }

  /** Saves the tokens for this address; null removes them. */
  async keep(url: string, tokens: LoginTokens | null): Promise<void> {
    await makeDirectory(this.#parent, { mode: 0o700 });
    const directory = await PrivateDirectory.open(this.#parent, [DIRECTORY]);
    try {
      await removeLeft(directory);
      const all = await this.#read(directory);
      if (tokens === null) all.delete(url);
      else all.set(url, { access_token: tokens.access_token, refresh_token: tokens.refresh_token });
      await directory.replace(FILE, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    } finally {
      await directory.close();
    }
  }

  /** A file that cannot be understood holds no login; the next login replaces it. */
  async #read(directory: PrivateDirectory): Promise<Map<string, LoginTokens>> {
    const text = (await directory.read(FILE, MAX_BYTES))?.toString('utf8') ?? '{}';
    try {
      return new Map(Object.entries(JSON.parse(text)).filter(isLogin));
    } catch {
      return new Map();
    }
  }
}

/** Removes temporary files of commands that were killed, because they hold tokens. */
async function removeLeft(directory: PrivateDirectory): Promise<void> {
  for (const name of (await directory.names()).filter(isTemporary)) {
    const entry = await lstat(path.join(directory.path, name)).catch(() => null);
    if (entry !== null && entry.mtimeMs < Date.now() - LEFT_MS) await directory.remove(name);
  }
}

function isLogin(entry: [string, unknown]): entry is [string, LoginTokens] {
  const [, tokens] = entry;
  return isObject(tokens) && typeof tokens.access_token === 'string' && typeof tokens.refresh_token === 'string';
}
