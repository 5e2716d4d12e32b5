// Opens the file of a database, and refuses one that others own, a link, or an unknown schema version.
import { accessSync, constants, lstatSync, type Stats, statfsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import type { Migration, SqliteDatabase } from '../contract/database.ts';
import { requireAnswer } from './answering.ts';
import { makeDirectory } from './make-directory.ts';
import { PrivateDirectory } from './private-directory.ts';
import { faultOf, SqliteFault } from './sqlite-fault.ts';
import { requireSafeLibrary } from './sqlite-library.ts';

export interface SqliteFileOptions {
  /** null for a database in memory. */
  readonly file: string | null;
  /** Only the host's user may write to the directories between this one and the file. */
  readonly root: string;
  /** Whether those directories keep their permissions for other users, because a user named them. */
  readonly keepModes: boolean;
  readonly readOnly: boolean;
  readonly synchronous: 'normal' | 'full';
  readonly onCorrupt: 'refuse' | 'replace';
  readonly busyTimeoutMs: number;
  readonly pageBytes: number | undefined;
  readonly canShrink: boolean;
}

/**
 * The cache of pages of a connection. The kernel has the pages too, so a larger cache only saves copies. The default of
 * better-sqlite3 is 16 MB, which a database that is written to fills within hours.
 */
const CACHE_KIB = 2_000;
/** Migrations of a new database write less. */
const TEMPORARY_BYTES = 16 * 1_024 * 1_024;
/** Offset of `user_version` in the header of a database file. */
const VERSION_OFFSET = 60;
const MAGIC = 'SQLite format 3';
/**
 * The names of database files. A file without the magic is a damaged database by its name, or else no database at all.
 */
const DATABASE_NAME = /\.(?:sqlite3?|db)$/;

/**
 * The greatest content of a file that is written anew while its first call waits: three times as much has to be written
 * within the deadline of a call.
 */
const MAX_REWRITTEN_BYTES = 32 * 1_024 * 1_024;

export type SqliteLoss = 'removed' | 'replaced';
type Sqlite = BetterSqlite3.Database;
type SqliteConstructor = new (file: string, options?: BetterSqlite3.Options) => Sqlite;

export class SqliteFile {
  readonly #options: SqliteFileOptions;
  readonly #migrations: readonly Migration[];
  readonly #warn: (message: string) => void;
  #db: Sqlite | undefined;
  /** The file as it was when it was opened. */
  #opened: Stats | undefined;

  constructor(options: SqliteFileOptions, migrations: readonly Migration[], warn: (message: string) => void) {
    this.#options = options;
    this.#migrations = migrations;
    this.#warn = warn;
  }

  /** The path, as messages show it. */
  get name(): string {
    return this.#options.file ?? 'in memory';
  }

  /** The database; the first call opens and migrates it. Throws a SqliteFault. */
  async open(): Promise<Sqlite> {
    try {
      this.#db ??= await this.#openFile();
    } catch (error) {
      if (faultOf(error, this.name)?.code !== 'database.corrupt' || this.#options.onCorrupt !== 'replace') throw error;
      await this.setAside();
      this.#db = await this.#openFile();
    }
    return this.#db;
  }

  /** A second connection, which sees one consistent state of the database for as long as it is open. */
  async openReader(): Promise<Sqlite> {
    const db = await this.open();
    const { file } = this.#options;
    if (file === null) return db;
    // Beside a connection to the former file, both would use the same write-ahead log for different databases.
    const loss = this.loss();
    if (loss !== undefined)
      throw new SqliteFault('database.unusable', `The database ${file} was ${loss} while it was read; try again`);
    const reader = await this.#connect(file, true);
    reader.exec('BEGIN');
    return reader;
  }

  /**
   * How somebody has taken the file from its place since it was opened, so that all that is written is lost. Undefined
   * where its file system was unmounted, which may come back with the file.
   */
  loss(): SqliteLoss | undefined {
    const { file } = this.#options;
    const opened = this.#opened;
    if (file === null || opened === undefined) return undefined;
    try {
      const present = lstatSync(file, { throwIfNoEntry: false });
      if (present !== undefined)
        return present.dev === opened.dev && present.ino !== opened.ino ? 'replaced' : undefined;
      for (let place = path.dirname(file); ; place = path.dirname(place)) {
        const entry = lstatSync(place, { throwIfNoEntry: false });
        if (entry !== undefined) return entry.dev === opened.dev ? 'removed' : undefined;
      }
    } catch {
      // A place that cannot be looked at tells nothing about the file.
      return undefined;
    }
  }

  /**
   * Closes a file that was replaced. Its write-ahead log lies beside the new one, to which SQLite would apply it, so it
   * is emptied first. False while another process reads the former file, which keeps the log from being emptied.
   */
  leave(): boolean {
    const db = this.#db;
    if (db !== undefined && !this.#emptyLog(db)) return false;
    db?.close();
    this.#db = undefined;
    this.#opened = undefined;
    return true;
  }

  /**
   * False while somebody reads. It waits for nobody, because it is tried again and again and would delay every call.
   */
  #emptyLog(db: Sqlite): boolean {
    db.pragma('busy_timeout = 0');
    try {
      const [row] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
      return row?.busy !== 1;
    } finally {
      db.pragma(`busy_timeout = ${this.#options.busyTimeoutMs}`);
    }
  }

  /** Renames a damaged file and the files that belong to it. */
  async setAside(): Promise<void> {
    this.#db?.close();
    this.#db = undefined;
    const { file } = this.#options;
    if (file === null) return;
    const suffix = `.corrupt-${Date.now()}`;
    const directory = await this.#directory(file);
    try {
      const names = await directory.names();
      for (const end of ['', '-wal', '-shm']) {
        const name = `${path.basename(file)}${end}`;
        if (names.includes(name)) await directory.rename(name, `${path.basename(file)}${suffix}${end}`);
      }
    } finally {
      await directory.close();
    }
    this.#warn(`${file} was damaged; it is kept as ${file}${suffix}, and a new database is made`);
  }

  /** Transfers the write-ahead log into the file. */
  close(): void {
    const db = this.#db;
    this.#db = undefined;
    if (db === undefined) return;
    try {
      if (!this.#options.readOnly) db.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      db.close();
    }
  }

  async #openFile(): Promise<Sqlite> {
    const { file, readOnly } = this.#options;
    if (file === null) return this.#prepare(await this.#connect(':memory:', false));
    if (readOnly) {
      const entry = await lstat(file).catch(error => Promise.reject(asFault(error, file)));
      if (!entry.isFile()) throw new SqliteFault('database.unusable', `${file} is no regular file`);
      return this.#connect(file, true);
    }
    // Opening on a dead mount would hang one of the few threads that all file calls share, and each further try another
    // one.
    await requireAnswer([file]).catch((error: Error) => {
      throw new SqliteFault('database.unusable', error.message, error);
    });
    const directory = await this.#directory(file);
    try {
      const made = await this.#ensureDatabase(directory, file).catch(error => Promise.reject(asFault(error, file)));
      const db = await this.#connect(file, false);
      try {
        const opened = await lstat(file);
        if (opened.ino !== made.ino || opened.dev !== made.dev || !(await directory.isInPlace())) {
          throw new SqliteFault('database.unusable', `${file} was exchanged while it was opened; try again`);
        }
        this.#opened = opened;
        return this.#prepare(db);
      } catch (error) {
        db.close();
        throw error;
      }
    } finally {
      await directory.close();
    }
  }

  /**
   * Makes the file unless it exists, and refuses one that is no database or newer before anything about it is changed.
   */
  async #ensureDatabase(directory: PrivateDirectory, file: string): Promise<Stats> {
    const name = path.basename(file);
    const head = await directory.readHead(name, VERSION_OFFSET + 4);
    const isDatabase = head.toString('latin1', 0, MAGIC.length) === MAGIC;
    if (head.length > 0 && !isDatabase && !DATABASE_NAME.test(name)) {
      throw new SqliteFault('database.unusable', `${file} is no database and stays as it is; name another file`);
    }
    // Checked before SQLite opens the file, and once more when SQLite has read the write-ahead log.
    if (isDatabase && head.length === VERSION_OFFSET + 4) this.#refuseNewer(head.readUInt32BE(VERSION_OFFSET));
    return directory.ensureFile(name);
  }

  async #directory(file: string): Promise<PrivateDirectory> {
    const { root, keepModes } = this.#options;
    await makeDirectory(root);
    const parts = path.relative(root, path.dirname(file)).split(path.sep);
    try {
      return await PrivateDirectory.open(root, parts, { keepModes });
    } catch (error) {
      throw asFault(error, file);
    }
  }

  async #connect(file: string, readonly: boolean): Promise<Sqlite> {
    await requireSafeLibrary();
    const { default: Database } = (await import('better-sqlite3')) as unknown as { default: SqliteConstructor };
    const db = new Database(file, { readonly, fileMustExist: readonly, timeout: this.#options.busyTimeoutMs });
    try {
      limitCache(db);
      // Otherwise statements with intermediate results fail, as if the disk of the database were broken.
      if (!hasTemporaryPlace()) db.pragma('temp_store = MEMORY');
    } catch (error) {
      db.close();
      throw error;
    }
    return db;
  }

  #refuseNewer(version: number): void {
    const known = this.#migrations.length;
    if (version <= known) return;
    throw new SqliteFault(
      'database.newer',
      `${this.name} has the schema version ${version}, this version knows ${known}: a newer one wrote it; use that one, or move the file away`,
    );
  }

  #prepare(db: Sqlite): Sqlite {
    const { synchronous, file, pageBytes, canShrink } = this.#options;
    // Both count for a new file only, and only before anything is written to it, or when it is written anew.
    if (pageBytes !== undefined) {
      db.pragma(`page_size = ${pageBytes}`);
      limitCache(db);
    }
    if (canShrink) db.pragma('auto_vacuum = INCREMENTAL');
    let version = db.pragma('user_version', { simple: true }) as number;
    this.#refuseNewer(version);
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (file !== null && mode !== 'wal')
      this.#warn(`${file} has no write-ahead log (${mode}): readers wait for writers`);
    db.pragma(`synchronous = ${synchronous}`);
    db.pragma('foreign_keys = ON');
    for (const migration of this.#migrations.slice(version)) {
      version += 1;
      const migrate = db.transaction(() => {
        if (typeof migration === 'string') db.exec(migration);
        else refusePromise(migration(db as SqliteDatabase), version);
        db.pragma(`user_version = ${version}`);
      });
      migrate.immediate();
    }
    if (canShrink) this.#enableShrinking(db);
    return db;
  }

  /**
   * Writes a file of an earlier program anew, of which most is free: otherwise it could not shrink. It is one
   * transaction, so that a crash or a full disk leaves the file as it was.
   */
  #enableShrinking(db: Sqlite): void {
    const number = (name: string) => db.pragma(name, { simple: true }) as number;
    const [pages, free] = [number('page_count'), number('freelist_count')];
    if (number('auto_vacuum') !== 0 || free <= pages / 2) return;
    if ((pages - free) * number('page_size') > MAX_REWRITTEN_BYTES) return;
    try {
      db.exec('VACUUM');
      db.pragma('wal_checkpoint(TRUNCATE)');
    } catch (error) {
      this.#warn(`${this.name} stays larger than it needs to be: ${(error as Error).message}`);
    }
  }
}

/** An asynchronous migration would go on after its transaction has ended and its version was recorded. */
function refusePromise(given: unknown, version: number): void {
  if (typeof (given as PromiseLike<unknown> | undefined)?.then !== 'function') return;
  (given as PromiseLike<unknown>).then(undefined, () => undefined);
  throw new Error(`the migration to version ${version} gives a promise; migrations are synchronous`);
}

/** Whether the first of SQLite's directories for temporary files in which it may write has room for them. */
function hasTemporaryPlace(): boolean {
  const { SQLITE_TMPDIR, TMPDIR } = process.env;
  for (const place of [SQLITE_TMPDIR, TMPDIR, '/var/tmp', '/usr/tmp', '/tmp', '.']) {
    if (!place) continue;
    try {
      accessSync(place, constants.W_OK | constants.X_OK);
      const { bavail, bsize } = statfsSync(place);
      return bavail * bsize >= TEMPORARY_BYTES;
    } catch {
      // SQLite tries the next one.
    }
  }
  return false;
}

/** SQLite converts the limit to a number of pages at once, so it is set again when the page size changes. */
function limitCache(db: Sqlite): void {
  db.pragma(`cache_size = -${CACHE_KIB}`);
}

/** The fault for an error of the file system. */
function asFault(error: unknown, file: string): SqliteFault {
  return faultOf(error, file) ?? new SqliteFault('database.unusable', (error as Error).message, error);
}
