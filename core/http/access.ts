// Decides who may use a route or stream. Fails closed: users on disk without the part that knows them shut every protected route.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../contract/log.ts';
import { Problem } from '../contract/problem.ts';
import type { AccessCheck, AccessRequest, Identity } from '../contract/route.ts';

export interface Admission {
  readonly identity: Identity;
  readonly trusted: boolean;
}

export interface AccessGateOptions {
  readonly log: Logger;
  readonly configDir: string;
  service(name: string): unknown;
}

const RECHECK_MS = 1000;
const NOBODY: Identity = Object.freeze({ username: null });
const OPEN: Admission = Object.freeze({ identity: NOBODY, trusted: true });
const STRANGER: Admission = Object.freeze({ identity: NOBODY, trusted: false });

export class AccessGate {
  readonly #options: AccessGateOptions;
  readonly #usersFile: string;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #usersExist: Promise<boolean> = Promise.resolve(false);
  #seen = '';
  #seenUsers = false;

  constructor(options: AccessGateOptions) {
    this.#options = options;
    this.#usersFile = process.env.DUMB_AUTH_CONFIG_PATH || join(options.configDir, 'users.json');
  }

  get service(): AccessCheck | undefined {
    return this.#options.service('access') as AccessCheck | undefined;
  }

  /** Throws a Problem when a protected thing is refused; a public one is always admitted, as a STRANGER if need be. */
  async admit(request: AccessRequest, access: 'public' | 'protected' = 'protected'): Promise<Admission> {
    try {
      const service = this.service;
      if (service !== undefined) {
        const identity = await service.check(request);
        if (!isIdentity(identity)) throw new Error('the access check answers without an identity');
        return { identity, trusted: true };
      }
      if (!(await this.#usersKnown())) return OPEN;
      throw new Problem(503, 'Users are configured but the part that checks them is not available');
    } catch (error) {
      const problem = error instanceof Problem ? error : this.#failed(error);
      if (access === 'protected') throw problem;
      return STRANGER;
    }
  }

  #failed(cause: unknown): Problem {
    this.#options.log.error('the access check failed', cause);
    return new Problem(503, 'The access check failed; see the log', { cause });
  }

  #usersKnown(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#checkedAt >= RECHECK_MS) {
      this.#checkedAt = now;
      this.#usersExist = this.#readUsers();
    }
    return this.#usersExist;
  }

  /** Everything but a file that is certainly absent or says `enabled: false` counts as users. */
  async #readUsers(): Promise<boolean> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#usersFile);
      const seen = `${mtimeMs} ${size} ${ino}`;
      if (seen === this.#seen) return this.#seenUsers;
      const users: unknown = JSON.parse(await readFile(this.#usersFile, 'utf8'));
      this.#seenUsers = !(typeof users === 'object' && users !== null && 'enabled' in users && users.enabled === false);
      this.#seen = seen;
      return this.#seenUsers;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      this.#options.log.debug(`${this.#usersFile} cannot be read`, error);
      return true;
    }
  }
}

/** Whoever checks may be somebody else's code: what is no identity opens nothing. */
function isIdentity(given: unknown): given is Identity {
  if (typeof given !== 'object' || given === null || !('username' in given)) return false;
  return given.username === null || typeof given.username === 'string';
}
