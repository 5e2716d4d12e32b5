// Identifies the caller of each protected route and stream; with authentication on, only a valid token is admitted.
import { type AccessCheck, type AccessRequest, type Disposer, type Identity, Problem } from '#core';
import type { Tokens } from './token.ts';
import type { UserStore } from './user-store.ts';

const BEARER = /^bearer +([^\s]+)$/i;
const NOBODY: Identity = Object.freeze({ username: null });

export function authenticationRequired(): Problem {
  return new Problem(401, 'Authentication required', { headers: { 'WWW-Authenticate': 'Bearer' } });
}

export class TokenCheck implements AccessCheck {
  readonly #store: UserStore;
  readonly #tokens: Tokens;
  readonly #listeners = new Set<() => void>();

  constructor(store: UserStore, tokens: Tokens) {
    this.#store = store;
    this.#tokens = tokens;
  }

  check(request: AccessRequest): Identity | Promise<Identity> {
    const refreshed = this.#store.refresh();
    return refreshed === undefined ? this.#identify(request) : refreshed.then(() => this.#identify(request));
  }

  enabled(): boolean {
    return this.#store.contentOrNull?.enabled ?? true;
  }

  issued(authorization: string): boolean {
    const token = BEARER.exec(authorization)?.[1];
    return token !== undefined && this.#tokens.issued(token);
  }

  onRevoked(listener: () => void): Disposer {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Makes the host check the callers of all open streams again. */
  notifyRevoked(): void {
    for (const listener of this.#listeners) listener();
  }

  #identify({ authorization }: AccessRequest): Identity {
    if (!this.#store.content.enabled) return NOBODY;
    const token = BEARER.exec(authorization ?? '')?.[1];
    if (token === undefined) {
      throw authenticationRequired();
    }
    return { username: this.#tokens.verify(token, 'access').username };
  }
}
