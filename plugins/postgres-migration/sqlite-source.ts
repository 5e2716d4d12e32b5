// The SQLite file of a service: looked at, checked and copied, never changed. Only a child process with the rights of
// the service opens it in its place.
import { entryIn, fileVersion } from '#kit/fs-out-of-process';
import { DatabaseUseError, useDatabaseAs } from '#kit/sqlite-as-user';
import type { Owner } from './places.ts';

export interface SourceFile {
  readonly file: string;
  readonly user: Owner;
  /** Whether the service is stopped, so that it does not have the file open. */
  readonly isStopped: boolean;
}

export interface SourceFacts {
  readonly exists: boolean;
  readonly bytes: number | null;
  /** SHA-256 over the statements of its schema. */
  readonly fingerprint: string | null;
  /** All schema versions that the program has recorded; empty when it has no table of versions. */
  readonly versions: readonly string[];
  /** Why the file cannot be read; null when it can. */
  readonly fault: string | null;
}

export interface Integrity {
  /** `ok`, or what SQLite says is wrong; null when the check was not done in time. */
  readonly quickCheck: string | null;
  readonly foreignKeyViolations: number | null;
}

const LOOK_MS = 20_000;
const QUICK_CHECK_MS = 60_000;
/** Deadline of work that reads a whole database of any size. */
const WHOLE_MS = 6 * 60 * 60_000;
const KEPT_MS = 5 * 60_000;
const MAX_KEPT = 64;

const FACTS = `(db, { table, column }) => {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256')
  const statement = "SELECT type, name, tbl_name, coalesce(sql, '') AS sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name"
  for (const { type, name, tbl_name: of, sql } of db.prepare(statement).iterate()) hash.update(type + ',' + name + ',' + of + ',' + sql + '\\n')
  const quoted = name => '"' + name.replaceAll('"', '""') + '"'
  const hasVersions = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined
  const versions = hasVersions ? db.prepare('SELECT CAST(' + quoted(column) + ' AS TEXT) FROM ' + quoted(table)).pluck().all() : []
  return { fingerprint: hash.digest('hex'), versions: versions.map(String) }
}`;
const CHECK = `(db, { pragma }) => ({
  quickCheck: db.pragma(pragma).map(row => Object.values(row)[0]).join('; ').slice(0, 300),
  foreignKeyViolations: db.pragma('foreign_key_check').length,
})`;
const SNAPSHOT = `(db, { into }) => { db.prepare('VACUUM INTO ?').run(into) }`;
/** What SQLite says when a journal undoes part of a transaction and the file may not be written. */
const UNDOING_REFUSED = 'attempt to write a readonly database';
const UNDO_IT = 'start the service, which undoes it, and stop it again';
/** Answers 1 when another program keeps the log in use, else 0; does not throw in that case. */
const CLOSE_LOG = `db => db.pragma('wal_checkpoint(TRUNCATE)')[0].busy`;

export class SqliteSources {
  /** Results of checks, by file and version of the file. */
  readonly #kept = new Map<string, { readonly untilMs: number; readonly integrity: Integrity }>();

  /** Never rejects: `fault` says what is wrong. */
  async facts(source: SourceFile, versions: { table: string; column: string }): Promise<SourceFacts> {
    const nothing = { exists: false, bytes: null, fingerprint: null, versions: [], fault: null };
    try {
      const bytes = await sizeOf(source.file);
      if (bytes === null) return nothing;
      const found = await this.#read(source, FACTS, versions, LOOK_MS);
      return { exists: true, bytes, fault: null, ...(found as Pick<SourceFacts, 'fingerprint' | 'versions'>) };
    } catch (error) {
      return { ...nothing, exists: true, fault: error instanceof DatabaseUseError ? error.message : String(error) };
    }
  }

  /** An unchanged file is checked once in five minutes. Rejects with an Error when it cannot be read. */
  async quickCheck(source: SourceFile): Promise<Integrity> {
    const key = `${source.file}\0${await fileVersion(source.file)}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.untilMs > performance.now()) return kept.integrity;
    try {
      const found = await this.#read(source, CHECK, { pragma: 'quick_check(5)' }, QUICK_CHECK_MS);
      const integrity = found as Integrity;
      this.#kept.delete(key);
      this.#kept.set(key, { untilMs: performance.now() + KEPT_MS, integrity });
      const [oldest = key] = this.#kept.keys();
      if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
      return integrity;
    } catch (error) {
      if (error instanceof DatabaseUseError && error.isLate) return { quickCheck: null, foreignKeyViolations: null };
      throw error;
    }
  }

  /**
   * Copies the database in one transaction, while the service may go on writing. The user of `source` must be able to
   * create `into`.
   */
  async snapshot(source: SourceFile, into: string, signal: AbortSignal): Promise<void> {
    await this.#read(source, SNAPSHOT, { into }, WHOLE_MS, signal);
  }

  /**
   * Moves the content of the write-ahead log into the database file of a stopped service. Rejects with an Error when
   * another program reads the database and keeps part of it in the log.
   */
  async closeLog({ file, user }: SourceFile, signal: AbortSignal): Promise<void> {
    const use = { file, user, access: 'maintain', work: CLOSE_LOG, input: null, limitMs: WHOLE_MS, signal } as const;
    if ((await useDatabaseAs(use)) !== 0)
      throw new Error(`${file} is read by another program, such as a backup; end that, then try again`);
  }

  /**
   * Checks the whole of a copy that no other program has open. Rejects with an Error that says what is wrong with it.
   */
  async checkCopy(file: string, user: Owner, signal: AbortSignal): Promise<void> {
    const source = { file, user, isStopped: true };
    const found = await this.#read(source, CHECK, { pragma: 'integrity_check(5)' }, WHOLE_MS, signal);
    const { quickCheck, foreignKeyViolations } = found as Integrity;
    if (quickCheck !== 'ok') throw new Error(`the copy of the SQLite database is damaged: ${quickCheck}`);
    if (foreignKeyViolations !== 0)
      throw new Error(`${foreignKeyViolations} rows of the SQLite database refer to rows that do not exist`);
  }

  async #read(
    { file, user, isStopped }: SourceFile,
    work: string,
    input: unknown,
    limitMs: number,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const hasLog = (await fileVersion(`${file}-wal`)) !== null;
    const hasJournal = ((await sizeOf(`${file}-journal`)) ?? 0) > 0;
    const access = isStopped && !hasLog && !hasJournal ? 'read-at-rest' : 'read';
    const use = { file, user, access, work, input, limitMs, ...(signal === undefined ? {} : { signal }) } as const;
    return useDatabaseAs(use).catch((error: unknown) => {
      if (isStopped && hasJournal && String(error).includes(UNDOING_REFUSED))
        throw new DatabaseUseError(`${file} holds part of a transaction that was cut off; ${UNDO_IT}`, false);
      throw error;
    });
  }
}

/** The file that was written last; the first of the list when none exists. */
export async function newestOf(files: readonly string[]): Promise<string> {
  let newest = { file: files[0] ?? '', writtenNs: -1n };
  for (const file of files) {
    // A file that cannot be looked at is reported later, by `facts`.
    const version = await fileVersion(file).catch(() => null);
    if (version === null) continue;
    const { writtenNs } = entryIn(version);
    if (writtenNs > newest.writtenNs) newest = { file, writtenNs };
  }
  return newest.file;
}

/** null when there is no such file. */
export async function sizeOf(file: string): Promise<number | null> {
  const version = await fileVersion(file);
  return version === null ? null : entryIn(version).bytes;
}
