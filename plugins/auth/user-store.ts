// The users, the signing secret and whether authentication is on: one file, one writer, closed when it cannot be read.
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import PQueue from 'p-queue';
import { z } from 'zod';
import { type Logger, Problem } from '#core';
import { writeFileAtomic } from '#kit/atomic-write';

const RECHECK_MS = 1_000;
const SECRET_BYTES = 32;
const MIN_SECRET_LENGTH = 32;

const userSchema = z.looseObject({
  username: z.string(),
  password: z.string(),
  disabled: z.boolean().default(false),
  token_version: z.number().int().default(0),
  created_at: z.string().optional(),
  password_changed_at: z.string().optional(),
});

const fileSchema = z.looseObject({
  enabled: z.boolean().default(false),
  users: z.array(userSchema).default([]),
  jwt_secret: z.string().default(''),
  setup_skipped: z.boolean().default(false),
  mode: z.string().default('local'),
  oidc: z.record(z.string(), z.unknown()).default({}),
});

export type StoredUser = z.output<typeof userSchema>;
export type UserFile = z.output<typeof fileSchema>;

export class UserStore {
  readonly #file: string;
  readonly #log: Logger;
  readonly #onOutsideChange: () => void;
  readonly #queue = new PQueue({ concurrency: 1 });
  #content: UserFile | null = null;
  #key: KeyObject = createSecretKey(randomBytes(SECRET_BYTES));
  #fingerprint = '';
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(file: string, log: Logger, onOutsideChange: () => void) {
    this.#file = file;
    this.#log = log;
    this.#onOutsideChange = onOutsideChange;
  }

  /** What the file said when it was read last; null while it cannot be read. */
  get content(): UserFile | null {
    return this.#content;
  }

  /** Throws a Problem 503 while the file cannot be read: nobody is let in on a guess. */
  get known(): UserFile {
    if (this.#content === null) {
      throw new Problem(503, 'The user store cannot be read; mend or restore users.json, see the log');
    }
    return this.#content;
  }

  get signingKey(): KeyObject {
    return this.#key;
  }

  find(username: string): StoredUser | undefined {
    return this.known.users.find(user => user.username === username);
  }

  /** Reads the file, creating it where there is none. */
  load(): Promise<void> {
    return this.#queue.add(() => this.#load());
  }

  /** Notices a change from outside, looking at most once a second. Without one it costs nothing. */
  refresh(): Promise<void> | undefined {
    const nowMs = performance.now();
    if (nowMs - this.#checkedMs < RECHECK_MS) return undefined;
    this.#checkedMs = nowMs;
    return this.#queue.add(async () => {
      const found = await fingerprint(this.#file);
      if (found === this.#fingerprint) return;
      if (found === '' && this.#content !== null) {
        this.#log.error(
          `${this.#file} is gone; its users are kept until the end of this run, the next change writes it`,
        );
        this.#fingerprint = '';
        return;
      }
      await this.#load();
      this.#onOutsideChange();
    });
  }

  /**
   * Writes what `change` makes of the present content; memory follows only when the file was written. `change` may throw
   * a Problem to refuse, and runs alone.
   */
  update(change: (content: UserFile) => UserFile): Promise<UserFile> {
    return this.#queue.add(async () => {
      const next = change(structuredClone(this.known));
      await this.#write(next);
      return next;
    });
  }

  async #load(): Promise<void> {
    this.#fingerprint = await fingerprint(this.#file);
    if (this.#fingerprint === '') {
      this.#take(fileSchema.parse({}));
    } else {
      const read = (await this.#read(this.#file)) ?? (await this.#read(`${this.#file}.bak`));
      if (read === null) {
        this.#content = null;
        return;
      }
      this.#take(read);
    }
    if (this.known.jwt_secret.length >= MIN_SECRET_LENGTH) return;
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    await this.#write({ ...this.known, jwt_secret: secret }).catch((error: unknown) => {
      this.#log.error('tokens of this run end with it, since the user store cannot be written', error);
    });
  }

  /** null, and a line in the log, when it cannot be understood. The file stays as it is. */
  async #read(file: string): Promise<UserFile | null> {
    try {
      return fileSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    } catch (error) {
      const reason = error instanceof z.ZodError ? 'it does not have the expected form' : 'it is no readable JSON file';
      this.#log.error(`${file} cannot be used: ${reason}`);
      return null;
    }
  }

  async #write(content: UserFile): Promise<void> {
    try {
      const text = `${JSON.stringify(content, null, 2)}\n`;
      await writeFileAtomic(this.#file, text, { mode: 0o600 });
      // The same, not what was before: a copy must not bring a deleted user or an old password back.
      await writeFileAtomic(`${this.#file}.bak`, text, { mode: 0o600 }).catch((error: unknown) =>
        this.#log.error(`no copy of ${this.#file} could be made`, error),
      );
    } catch (error) {
      throw new Problem(503, 'The user store cannot be written; nothing was changed', { cause: error });
    }
    this.#fingerprint = await fingerprint(this.#file);
    this.#take(content);
  }

  #take(content: UserFile): void {
    if (content.jwt_secret.length >= MIN_SECRET_LENGTH && content.jwt_secret !== this.#content?.jwt_secret) {
      this.#key = createSecretKey(Buffer.from(content.jwt_secret, 'utf8'));
    }
    this.#content = content;
  }
}

/** Empty when there is no file. */
async function fingerprint(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs}:${size}:${ino}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : 'unreadable';
  }
}
