// Everything that changes accounts or the authentication switch. At least one user who can log in always remains.
import { randomInt } from 'node:crypto';
import { type Logger, Problem } from '#core';
import { authenticationRequired } from './access-check.ts';
import { checkPassword, checkUserName } from './account-rules.ts';
import type { AuthChange } from './contract.ts';
import { decoysFor, hashPassword, isCurrentHash, isKnownHash, verifyPassword } from './password.ts';
import type { LoginThrottle } from './throttle.ts';
import type { StoredUser, UserFile, UserStore } from './user-store.ts';

const MAX_PASSWORD_LENGTH = 1_024;

export class Accounts {
  readonly #store: UserStore;
  readonly #throttle: LoginThrottle;
  readonly #log: Logger;
  readonly #onChange: (change: AuthChange) => void;

  constructor(store: UserStore, throttle: LoginThrottle, log: Logger, onChange: (change: AuthChange) => void) {
    this.#store = store;
    this.#throttle = throttle;
    this.#log = log;
    this.#onChange = onChange;
  }

  /**
   * Checks a user name and a password that `client` sent. Throws a Problem 401 that does not say which of them is wrong
   * or whether the user is disabled, a Problem 429 while the client is throttled, or a Problem 503 when too many hashes
   * are waiting. Hashes of clients that have logged in before go first.
   */
  async logIn(username: string, password: string, client: string): Promise<StoredUser> {
    if (!this.#store.content.enabled) throw new Problem(401, 'Authentication is not enabled');
    const user = this.#store.find(username);
    const hash = user === undefined || user.disabled ? undefined : user.password;
    const isUrgent = this.#throttle.isKnown(client);
    const matches = await this.#throttle.attempt(client, username, () => this.#matches(password, hash, isUrgent));
    // The account may have changed while its hash was compared.
    const current = this.#store.find(username);
    const isSame = current?.disabled === false && current.token_version === user?.token_version;
    if (user === undefined || !matches || !isSame) throw new Problem(401, 'Wrong user name or password');
    if (!isCurrentHash(user.password)) await this.#replaceHash(user, password);
    return current;
  }

  /** Takes the same time for every user name when the password does not match. */
  async #matches(password: string, hash: string | undefined, isUrgent: boolean): Promise<boolean> {
    if (password.length > MAX_PASSWORD_LENGTH) return false;
    if ((await verifyPassword(password, hash, { isUrgent })) && hash !== undefined) return true;
    const others = this.#store.content.users.filter(user => !user.disabled).map(user => user.password);
    for (const decoy of decoysFor(hash, others)) await verifyPassword(password, decoy, { isUrgent });
    return false;
  }

  /** Creates the first user and enables authentication. Throws a Problem 400 when there are users. */
  async setUp(username: string, password: string): Promise<StoredUser> {
    requireNoUsers(this.#store.content);
    const user = await createUser(username, password);
    await this.#store.update(content => {
      requireNoUsers(content);
      return { ...content, enabled: true, setup_skipped: false, users: [user] };
    });
    this.#onChange({ kind: 'enabled', username });
    return user;
  }

  async skipSetup(): Promise<void> {
    await this.#store.update(content => {
      requireNoUsers(content);
      if (content.enabled) throw new Problem(400, 'Authentication is enabled; create a user instead');
      return { ...content, setup_skipped: true };
    });
  }

  async enable(): Promise<void> {
    await this.#store.update(content => {
      if (!content.users.some(canLogIn)) {
        const refusal = content.users.length === 0 ? 'Create a user first' : 'No user can log in; create one first';
        throw new Problem(400, refusal);
      }
      return { ...content, enabled: true, setup_skipped: false };
    });
    this.#onChange({ kind: 'enabled', username: null });
  }

  async disable(): Promise<void> {
    await this.#store.update(content => ({ ...content, enabled: false }));
    this.#onChange({ kind: 'disabled', username: null });
  }

  /** `actor` is null for a caller who had no need to log in. */
  async add(username: string, password: string, actor: string | null): Promise<StoredUser> {
    const user = await createUser(username, password);
    await this.#store.update(content => {
      requireLogin(content, actor);
      const folded = username.toLowerCase();
      if (content.users.some(other => other.username.toLowerCase() === folded)) {
        throw new Problem(400, 'A user of that name exists already');
      }
      const isFirst = content.users.length === 0 && !content.enabled;
      const users = [...content.users, user];
      return isFirst ? { ...content, users, enabled: true, setup_skipped: false } : { ...content, users };
    });
    this.#onChange({ kind: 'user-added', username });
    return user;
  }

  /** Disables or enables a user, or sets a new password. Disabling and a new password invalidate the user's tokens. */
  async change(
    username: string,
    { disabled, password }: { disabled?: boolean; password?: string },
  ): Promise<StoredUser> {
    if (password !== undefined) checkPassword(password);
    const hash = password === undefined ? undefined : await hashPassword(password);
    const content = await this.#store.update(before => {
      requireEnabled(before);
      const user = requireUser(before, username);
      if (disabled === true) requireAnotherUser(before, user);
      const endsTokens = hash !== undefined || (disabled === true && !user.disabled);
      const changed: StoredUser = {
        ...user,
        disabled: disabled ?? user.disabled,
        token_version: user.token_version + (endsTokens ? 1 : 0),
        ...(hash === undefined ? {} : { password: hash, password_changed_at: new Date().toISOString() }),
      };
      return { ...before, users: before.users.map(other => (other === user ? changed : other)) };
    });
    this.#onChange({ kind: 'user-changed', username });
    return requireUser(content, username);
  }

  async remove(username: string, actor: string | null): Promise<void> {
    await this.#store.update(content => {
      requireEnabled(content);
      const user = requireUser(content, username);
      if (username === actor) throw new Problem(400, 'You cannot delete your own account');
      requireAnotherUser(content, user);
      return { ...content, users: content.users.filter(other => other !== user) };
    });
    this.#onChange({ kind: 'user-removed', username });
  }

  /** Never throws: a hash that cannot be stored does not make a login with the right password fail. */
  async #replaceHash({ username, password: old }: StoredUser, password: string): Promise<void> {
    try {
      const hash = await hashPassword(password);
      await this.#store.update(content => ({
        ...content,
        // Only the hash that was compared is replaced: the user may have been given another password meanwhile.
        users: content.users.map(user =>
          user.username === username && user.password === old ? { ...user, password: hash } : user,
        ),
      }));
    } catch (error) {
      this.#log.warn(
        `the new hash of the password of '${username}' could not be stored; the next login tries again`,
        error,
      );
    }
  }
}

async function createUser(username: string, password: string): Promise<StoredUser> {
  checkUserName(username);
  checkPassword(password);
  return {
    username,
    password: await hashPassword(password),
    disabled: false,
    // Tokens of a deleted user of the same name may not have expired yet, so the version starts at a random number.
    token_version: randomInt(1, 2 ** 31),
    created_at: new Date().toISOString(),
  };
}

function requireNoUsers(content: UserFile): void {
  if (content.users.length > 0) throw new Problem(400, 'Users exist already; log in instead');
}

function requireEnabled(content: UserFile): void {
  if (!content.enabled) throw new Problem(400, 'Authentication is disabled; enable it first');
}

/** The caller was let in while authentication was off, and somebody has enabled it since. */
function requireLogin(content: UserFile, actor: string | null): void {
  if (content.enabled && actor === null) throw authenticationRequired();
}

function requireUser(content: UserFile, username: string): StoredUser {
  const user = content.users.find(candidate => candidate.username === username);
  if (user === undefined) throw new Problem(404, 'There is no user of that name');
  return user;
}

/** A password that somebody wrote into the file by hand, as it is, lets nobody in. */
function canLogIn({ disabled, password }: StoredUser): boolean {
  return !disabled && isKnownHash(password);
}

/** Throws a Problem 400 when there is nobody but `user` who can log in. */
function requireAnotherUser(content: UserFile, user: StoredUser): void {
  const others = content.users.filter(other => other !== user && canLogIn(other));
  if (others.length === 0) throw new Problem(400, 'This is the last user who can log in');
}
