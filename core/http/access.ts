// Decides who may use a route or stream. It fails closed: when users exist but no plugin can check them, protected
// routes and streams admit nobody.
import { lstat } from 'node:fs/promises';
import type { Logger } from '../contract/log.ts';
import { Problem } from '../contract/problem.ts';
import type { AccessCheck, AccessRequest, Identity } from '../contract/route.ts';
import { usersFiles } from '../kit/host-state.ts';
import { plainData } from '../kit/plain-data.ts';
import { readPrivate } from '../kit/trust.ts';

export interface Admission {
  readonly identity: Identity;
  /** Whether the caller showed valid credentials, or authentication is off. */
  readonly trusted: boolean;
}

export interface AccessGateOptions {
  readonly log: Logger;
  readonly configDir: string;
  /** The service that a plugin provides under this name, if any. */
  service(name: string): unknown;
}

const RECHECK_INTERVAL_MS = 1000;
const NOBODY: Identity = Object.freeze({ username: null });
/** The admission of every caller when no plugin checks access and no users exist. */
const OPEN_ACCESS: Admission = Object.freeze({ identity: NOBODY, trusted: true });
/** The admission of a caller without valid credentials, to public routes only. */
const UNTRUSTED: Admission = Object.freeze({ identity: NOBODY, trusted: false });

export class AccessGate {
  readonly #options: AccessGateOptions;
  readonly #usersFile: string;
  #lastCheckMs = Number.NEGATIVE_INFINITY;
  #usersExist: Promise<boolean> = Promise.resolve(false);
  #lastFingerprint = '';
  #lastResult = false;

  constructor(options: AccessGateOptions) {
    this.#options = options;
    [this.#usersFile] = usersFiles(options.configDir);
  }

  get service(): AccessCheck | undefined {
    return this.#options.service('access') as AccessCheck | undefined;
  }

  /**
   * Admits a caller. Throws a Problem 401 or 503 when a protected route or stream refuses it; a public one never does.
   */
  async admit(request: AccessRequest, access: 'public' | 'protected' = 'protected'): Promise<Admission> {
    try {
      const service = this.service;
      if (service !== undefined) {
        const identity = await service.check(request);
        if (!isIdentity(identity)) throw new Error('the access check answers without an identity');
        return { identity, trusted: true };
      }
      if (!(await this.#checkUsersExist())) return OPEN_ACCESS;
      throw new Problem(503, 'Users are configured but the part that checks them is not available');
    } catch (error) {
      const problem = error instanceof Problem ? error : this.#reportFailure(error);
      if (access === 'protected') throw problem;
      return UNTRUSTED;
    }
  }

  /** Whether callers must identify themselves at present; false when the check itself fails. */
  async mustLogIn(): Promise<boolean> {
    try {
      const { service } = this;
      return service === undefined ? await this.#checkUsersExist() : service.enabled();
    } catch (error) {
      this.#reportFailure(error);
      return false;
    }
  }

  #reportFailure(cause: unknown): Problem {
    this.#options.log.error('the access check failed', cause);
    return new Problem(503, 'The access check failed; see the log', { cause });
  }

  #checkUsersExist(): Promise<boolean> {
    const nowMs = performance.now();
    if (nowMs - this.#lastCheckMs >= RECHECK_INTERVAL_MS) {
      this.#lastCheckMs = nowMs;
      this.#usersExist = this.#readUsers();
    }
    return this.#usersExist;
  }

  /**
   * Whether users exist. Only a missing file, or a valid and trusted one with `enabled: false`, means that there are
   * none, so that a damaged file, a link or a FIFO does not open the host to everyone.
   */
  async #readUsers(): Promise<boolean> {
    try {
      const { mtimeMs, ctimeMs, size, ino } = await lstat(this.#usersFile);
      const fingerprint = `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
      if (fingerprint === this.#lastFingerprint) return this.#lastResult;
      const users: unknown = plainData(JSON.parse((await readPrivate(this.#usersFile)).replace(/^\uFEFF/, '')));
      this.#lastResult = !(
        typeof users === 'object' &&
        users !== null &&
        'enabled' in users &&
        users.enabled === false &&
        'users' in users &&
        Array.isArray(users.users)
      );
      this.#lastFingerprint = fingerprint;
      return this.#lastResult;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      this.#options.log.debug(`${this.#usersFile} cannot be read`, error);
      return true;
    }
  }
}

/**
 * The access that a route or stream declares. An inherited `access` does not count, so that it cannot open anything.
 */
export function accessOf(place: { readonly access?: 'public' | 'protected' }): 'public' | 'protected' {
  return Object.hasOwn(place, 'access') && place.access === 'public' ? 'public' : 'protected';
}

/** A plugin makes the identity, so its shape is checked before it admits anyone. */
function isIdentity(given: unknown): given is Identity {
  if (typeof given !== 'object' || given === null) return false;
  if (!Object.hasOwn(given, 'username')) return false;
  const { username } = given as { username: unknown };
  return username === null || typeof username === 'string';
}
