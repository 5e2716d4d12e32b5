// The file that holds the users, the signing secret and the authentication switch. Updates are written one after the
// other, and nobody is admitted while the file cannot be read.
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import { type Logger, Problem } from '#core';
import { removeTemporaryFiles, UnsyncedProblem, writeFileAtomic } from '#kit/atomic-write';
import { errorText, reasonText } from '#kit/error-text';
import { refuseDeepData } from '#kit/plain-data';
import { readPrivate } from '#kit/trust';
import { WorkQueue } from '#kit/work-queue';
import { isKnownHash } from './password.ts';

const RECHECK_INTERVAL_MS = 1_000;
const SECRET_BYTES = 32;
const MIN_SECRET_LENGTH = 32;

const userSchema = z.lazy(() =>
  z.looseObject({
    username: z.string(),
    password: z.string(),
    disabled: z.boolean().default(false),
    token_version: z.number().int().default(0),
    created_at: z.string().optional(),
    password_changed_at: z.string().optional(),
  }),
);

/** `enabled` and `users` have no defaults: a file without them does not say who may log in. */
const fileSchema = z.lazy(() =>
  z.looseObject({
    enabled: z.boolean(),
    users: z.array(userSchema),
    jwt_secret: z.string().default(''),
    setup_skipped: z.boolean().default(false),
    mode: z.string().default('local'),
    oidc: z.record(z.string(), z.unknown()).default({}),
  }),
);

export type StoredUser = z.output<typeof userSchema>;
export type UserFile = z.output<typeof fileSchema>;

const FIRST_USE: UserFile = fileSchema.parse({ enabled: false, users: [] });

export class UserStore {
  readonly #file: string;
  readonly #log: Logger;
  readonly #onExternalChange: () => void;
  readonly #queue = new WorkQueue({ concurrency: 1 });
  #content: UserFile | null = null;
  #key: KeyObject = createSecretKey(randomBytes(SECRET_BYTES));
  #fingerprint = '';
  #lastCheckMs = Number.NEGATIVE_INFINITY;

  /** What the log and `fault` say while the file cannot be used. */
  readonly #closed: string;

  constructor(file: string, log: Logger, onExternalChange: () => void) {
    this.#file = file;
    this.#closed = `nobody is admitted until ${file} is mended: copy a good ${file}.bak over it, or remove it to begin anew without users`;
    this.#log = log;
    this.#onExternalChange = onExternalChange;
  }

  /** The content as last read or written; null while the file is unreadable. */
  get contentOrNull(): UserFile | null {
    return this.#content;
  }

  /** The content as last read or written. Throws a Problem 503 while the file is unreadable. */
  get content(): UserFile {
    if (this.#content === null) {
      throw new Problem(503, 'The user store cannot be read; mend or restore users.json, see the log');
    }
    return this.#content;
  }

  /** Why nobody may log in, and what to do; null while the file can be used. */
  get fault(): string | null {
    return this.#content === null ? this.#closed : null;
  }

  get signingKey(): KeyObject {
    return this.#key;
  }

  find(username: string): StoredUser | undefined {
    return this.content.users.find(user => user.username === username);
  }

  /**
   * Reads the file. A missing file means first use: it is created, a moment later, with a new signing secret and
   * without users.
   */
  load(): Promise<void> {
    const loaded = this.#queue.add(() => this.#load());
    // Not awaited, but queued before the first write.
    void this.#queue.add(() => this.#removeTemporaryFiles());
    return loaded;
  }

  /**
   * Reads the file again if it was changed from outside. Returns undefined, at no cost, when that was checked less than
   * a second ago.
   */
  refresh(): Promise<void> | undefined {
    const nowMs = performance.now();
    if (nowMs - this.#lastCheckMs < RECHECK_INTERVAL_MS) return undefined;
    this.#lastCheckMs = nowMs;
    return this.#queue.add(() => this.#catchUp());
  }

  /**
   * Writes the content that `change` returns, and keeps it in memory once it is on disk. `change` gets a copy of what
   * the file holds at this moment, never runs beside another update, and may throw a Problem to refuse the update.
   */
  update(change: (content: UserFile) => UserFile): Promise<UserFile> {
    return this.#queue.add(async () => {
      await this.#catchUp();
      const next = change(structuredClone(this.content));
      await this.#write(next);
      return next;
    });
  }

  /** Resolves when everything is written. */
  onIdle(): Promise<void> {
    return this.#queue.onIdle();
  }

  /** Removes what writes of a host that was killed have left: it holds hashes of passwords and the signing secret. */
  async #removeTemporaryFiles(): Promise<void> {
    for (const file of [this.#file, `${this.#file}.bak`])
      await removeTemporaryFiles(file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT')
          this.#log.warn(`what an interrupted write of ${file} has left beside it stays`, error);
      });
  }

  /** Reads the file again if it was changed from outside since it was read or written. */
  async #catchUp(): Promise<void> {
    const found = await readFingerprint(this.#file);
    if (found === this.#fingerprint) return;
    if (found === '' && this.#content !== null) {
      this.#log.error(`${this.#file} is gone; its users are kept until the end of this run, the next change writes it`);
      this.#fingerprint = '';
      return;
    }
    await this.#load();
    this.#onExternalChange();
  }

  async #load(): Promise<void> {
    this.#fingerprint = await readFingerprint(this.#file);
    const content = this.#fingerprint === '' ? FIRST_USE : await this.#read();
    if (content === null) {
      this.#content = null;
      this.#log.error(this.#closed);
      return;
    }
    const users = this.#withoutNamesakes(content.users);
    this.#setContent({ ...content, users });
    for (const { username, password } of users)
      if (!isKnownHash(password))
        this.#log.warn(`the password of '${username}' in ${this.#file} has no form that can be checked; set a new one`);
    if (content.jwt_secret.length >= MIN_SECRET_LENGTH) return;
    this.#setContent({ ...content, users, jwt_secret: randomBytes(SECRET_BYTES).toString('base64url') });
    // Not awaited: the queue runs this update after the present load, and no client has a token yet that would become
    // invalid if the secret were lost.
    void this.update(made => made).catch((error: unknown) => {
      this.#log.error('tokens of this run end with it', error);
    });
  }

  /**
   * The first user of each name, because that is who logs in by it. A later one would be in its place, with an older
   * password, as soon as the first one is deleted.
   */
  #withoutNamesakes(users: readonly StoredUser[]): StoredUser[] {
    const names = new Set<string>();
    return users.filter(({ username }) => {
      const isFirst = !names.has(username);
      names.add(username);
      if (!isFirst) this.#log.warn(`${this.#file} has several users '${username}'; only the first of them counts`);
      return isFirst;
    });
  }

  /**
   * The content of the file, or of its copy when the file is no readable JSON; null when neither can be used. A
   * readable file that lacks something was written that way: the copy would hide what a user or another program has
   * changed. The copy may be older than the file, so one with authentication off is not used.
   */
  async #read(): Promise<UserFile | null> {
    const text = await this.#readJson(this.#file);
    if (text !== undefined) return this.#checked(this.#file, text);
    const copy = await this.#readJson(`${this.#file}.bak`);
    const content = copy === undefined ? null : this.#checked(`${this.#file}.bak`, copy);
    if (content?.enabled !== false) return content;
    this.#log.error(`${this.#file}.bak is not used, because authentication is off in it`);
    return null;
  }

  /** The JSON value in a file; undefined, after an error in the log, when it is no JSON or other users may write it. */
  async #readJson(file: string): Promise<unknown> {
    let text: string;
    try {
      text = await readPrivate(file);
    } catch (error) {
      this.#log.error(`${file} cannot be used: ${reasonText(error)}`);
      return undefined;
    }
    try {
      // Some editors put a byte order mark before the text.
      return JSON.parse(text.replace(/^\uFEFF/, ''));
    } catch {
      this.#log.error(`${file} cannot be used: it is no readable JSON file`);
      return undefined;
    }
  }

  /** `value` as the content of a user file; null, after an error in the log, when it does not have that form. */
  #checked(file: string, value: unknown): UserFile | null {
    try {
      refuseDeepData(value);
    } catch (error) {
      this.#log.error(`${file} cannot be used: ${errorText(error)}`);
      return null;
    }
    const parsed = fileSchema.safeParse(value);
    if (parsed.success) return parsed.data;
    const places = parsed.error.issues.map(({ path }) => path.join('.') || 'the whole').join(', ');
    this.#log.error(`${file} cannot be used: missing or not of the expected form: ${places}`);
    return null;
  }

  async #write(content: UserFile): Promise<void> {
    try {
      const text = `${JSON.stringify(content, null, 2)}\n`;
      await writeFileAtomic(this.#file, text, { mode: 0o600, making: { mode: 0o700 } }).catch((error: unknown) => {
        if (!(error instanceof UnsyncedProblem)) throw error;
        // The change counts: all who read the file find it.
        this.#log.error(error.message);
      });
      // Read before the copy is written, so that a change that another program makes meanwhile is noticed.
      this.#fingerprint = await readFingerprint(this.#file);
      // The copy holds the new content, because restoring an older one would revive deleted users and old passwords.
      await writeFileAtomic(`${this.#file}.bak`, text, { mode: 0o600 }).catch((error: unknown) =>
        this.#log.error(`no copy of ${this.#file} could be made`, error),
      );
    } catch (error) {
      const reason = reasonText(error);
      throw new Problem(503, `${this.#file} cannot be written (${reason}); nothing was changed`, { cause: error });
    }
    this.#setContent(content);
  }

  #setContent(content: UserFile): void {
    if (content.jwt_secret.length >= MIN_SECRET_LENGTH && content.jwt_secret !== this.#content?.jwt_secret) {
      this.#key = createSecretKey(Buffer.from(content.jwt_secret, 'utf8'));
    }
    this.#content = content;
  }
}

/**
 * A text that differs after every change of the file, its owner or its permissions, and is empty when there is no file.
 * A symbolic link never counts as a missing file; `readPrivate` refuses it.
 */
async function readFingerprint(file: string): Promise<string> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await lstat(file);
    return `${mtimeMs}:${ctimeMs}:${size}:${ino}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : 'unreadable';
  }
}
