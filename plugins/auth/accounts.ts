// What can be done with accounts: logging in, the first user, further users, switching authentication on and off.
import { randomInt } from 'node:crypto';
import { Problem } from '#core';
import { checkPassword, checkUserName } from './account-rules.ts';
import type { AuthChange } from './contract.ts';
import { hashPassword, isCurrent, verifyPassword } from './password.ts';
import type { NameThrottle } from './throttle.ts';
import type { StoredUser, UserFile, UserStore } from './user-store.ts';

const MAX_PASSWORD_LENGTH = 1_024;

export class Accounts {
  readonly #store: UserStore;
  readonly #throttle: NameThrottle;
  readonly #changed: (change: AuthChange) => void;

  constructor(store: UserStore, throttle: NameThrottle, changed: (change: AuthChange) => void) {
    this.#store = store;
    this.#throttle = throttle;
    this.#changed = changed;
  }

  /** Throws a Problem 401, with one text for every reason, or 429. */
  async logIn(username: string, password: string): Promise<StoredUser> {
    if (!this.#store.known.enabled) throw new Problem(401, 'Authentication is not enabled');
    const user = this.#store.find(username);
    const hash = user === undefined || user.disabled ? undefined : user.password;
    const isShort = password.length <= MAX_PASSWORD_LENGTH;
    const matches = await this.#throttle.attempt(
      username,
      async () => isShort && (await verifyPassword(password, hash)) && hash !== undefined,
    );
    if (user === undefined || !matches) throw new Problem(401, 'Wrong user name or password');
    if (!isCurrent(user.password)) await this.#replaceHash(user, password);
    return user;
  }

  /** The first user; authentication is on from then. */
  async setUp(username: string, password: string): Promise<StoredUser> {
    refuseUsers(this.#store.known);
    const user = await newUser(username, password);
    await this.#store.update(content => {
      refuseUsers(content);
      return { ...content, enabled: true, setup_skipped: false, users: [user] };
    });
    this.#changed({ kind: 'enabled', username });
    return user;
  }

  async skipSetup(): Promise<void> {
    await this.#store.update(content => {
      refuseUsers(content);
      if (content.enabled) throw new Problem(400, 'Authentication is enabled; create a user instead');
      return { ...content, setup_skipped: true };
    });
  }

  async enable(): Promise<void> {
    await this.#store.update(content => {
      if (!content.users.some(user => !user.disabled)) throw new Problem(400, 'Create a user first');
      return { ...content, enabled: true, setup_skipped: false };
    });
    this.#changed({ kind: 'enabled', username: null });
  }

  async disable(): Promise<void> {
    await this.#store.update(content => ({ ...content, enabled: false }));
    this.#changed({ kind: 'disabled', username: null });
  }

  async add(username: string, password: string): Promise<StoredUser> {
    const user = await newUser(username, password);
    await this.#store.update(content => {
      const folded = username.toLowerCase();
      if (content.users.some(other => other.username.toLowerCase() === folded)) {
        throw new Problem(400, 'A user of that name exists already');
      }
      const isFirst = content.users.length === 0 && !content.enabled;
      const users = [...content.users, user];
      return isFirst ? { ...content, users, enabled: true, setup_skipped: false } : { ...content, users };
    });
    this.#changed({ kind: 'user-added', username });
    return user;
  }

  /** Every change ends the user's tokens. */
  async change(
    username: string,
    { disabled, password }: { disabled?: boolean; password?: string },
  ): Promise<StoredUser> {
    if (password !== undefined) checkPassword(password);
    const hash = password === undefined ? undefined : await hashPassword(password);
    const content = await this.#store.update(before => {
      requireEnabled(before);
      const user = found(before, username);
      if (disabled === true) refuseLast(before, user);
      const endsTokens = hash !== undefined || (disabled === true && !user.disabled);
      const changed: StoredUser = {
        ...user,
        disabled: disabled ?? user.disabled,
        token_version: user.token_version + (endsTokens ? 1 : 0),
        ...(hash === undefined ? {} : { password: hash, password_changed_at: new Date().toISOString() }),
      };
      return { ...before, users: before.users.map(other => (other === user ? changed : other)) };
    });
    this.#changed({ kind: 'user-changed', username });
    return found(content, username);
  }

  async remove(username: string, actor: string | null): Promise<void> {
    await this.#store.update(content => {
      requireEnabled(content);
      const user = found(content, username);
      if (username === actor) throw new Problem(400, 'You cannot delete your own account');
      refuseLast(content, user);
      return { ...content, users: content.users.filter(other => other !== user) };
    });
    this.#changed({ kind: 'user-removed', username });
  }

  async #replaceHash(user: StoredUser, password: string): Promise<void> {
    const hash = await hashPassword(password);
    await this.#store.update(content => ({
      ...content,
      users: content.users.map(other => (other.username === user.username ? { ...other, password: hash } : other)),
    }));
  }
}

async function newUser(username: string, password: string): Promise<StoredUser> {
  checkUserName(username);
  checkPassword(password);
  return {
    username,
    password: await hashPassword(password),
    disabled: false,
    // Not what an earlier user of the same name had, whose tokens may still be about.
    token_version: randomInt(1, 2 ** 31),
    created_at: new Date().toISOString(),
  };
}

function refuseUsers(content: UserFile): void {
  if (content.users.length > 0) throw new Problem(400, 'Users exist already; log in instead');
}

function requireEnabled(content: UserFile): void {
  if (!content.enabled) throw new Problem(400, 'Authentication is disabled; enable it first');
}

function found(content: UserFile, username: string): StoredUser {
  const user = content.users.find(candidate => candidate.username === username);
  if (user === undefined) throw new Problem(404, 'There is no user of that name');
  return user;
}

/** Without one enabled user nobody could log in any more. */
function refuseLast(content: UserFile, user: StoredUser): void {
  const others = content.users.filter(other => other !== user && !other.disabled);
  if (others.length === 0) throw new Problem(400, 'This is the last user who can log in');
}
