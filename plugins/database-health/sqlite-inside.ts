// Facts from within a SQLite database, read without changing it and without creating a file beside it.
import { closeSync, openSync, readSync, realpathSync } from 'node:fs';
import { reasonText } from '#kit/error-text';
import { SqliteFile } from '#kit/sqlite-file';
import type { DatabaseFacts } from './contract.ts';

const OPTIONS = {
  root: '/',
  keepModes: true,
  readOnly: true,
  synchronous: 'normal',
  onCorrupt: 'refuse',
  busyTimeoutMs: 2_000,
  pageBytes: undefined,
  canShrink: false,
} as const;
const SQLITE_MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;

/** Loads the library, for a program that is about to give up its rights. */
export async function loadSqlite(): Promise<void> {
  (await open(null)).close();
}

function open(file: string | null): ReturnType<SqliteFile['open']> {
  return new SqliteFile({ ...OPTIONS, file }, [], () => undefined).open();
}

/** Facts from within a SQLite database; nothing when it was not found. */
export async function insideOf({
  path: file = '',
  exists,
  walSizeBytes,
  shmSizeBytes,
}: DatabaseFacts): Promise<object> {
  if (exists !== true) return {};
  const started = performance.now();
  try {
    const header = headerOf(file);
    const facts = header === null ? {} : factsInHeader(header);
    // Opening a database in WAL mode whose `-shm` file is missing would create that file.
    const isAtRest = header !== null && isWal(header) && shmSizeBytes === undefined;
    if (isAtRest) {
      if (walSizeBytes === undefined || walSizeBytes === 0) return { ...facts, ...probed(started) };
      const notice = 'It was not closed in order, so it is not opened before its service has done so';
      return { ...facts, ...probed(started), notice };
    }
    return { ...(await pragmasOf(realpathSync(file))), ...probed(started) };
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (/^SQLITE_(?:READONLY|CANTOPEN)/.test(String(code)))
      return { notice: `It cannot be opened without writing beside it (${reasonText(error)})`, ...probed(started) };
    return { probeError: reasonText(error), ...probed(started) };
  }
}

function probed(started: number): object {
  return { enhancedProbe: true, probeMs: Math.round((performance.now() - started) * 10) / 10 };
}

async function pragmasOf(file: string): Promise<object> {
  const db = await open(file);
  try {
    db.pragma('query_only = ON');
    const value = (name: string): unknown => db.pragma(name, { simple: true });
    return {
      schemaVersion: value('schema_version'),
      journalMode: value('journal_mode'),
      pageSize: value('page_size'),
      pageCount: value('page_count'),
      freelistCount: value('freelist_count'),
    };
  } finally {
    db.close();
  }
}

/** The header of a database; null for an empty file. Throws an Error for a file that is no SQLite database. */
function headerOf(file: string): Buffer | null {
  const descriptor = openSync(file, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const length = readSync(descriptor, header, 0, HEADER_BYTES, 0);
    if (length === 0) return null;
    if (header.toString('latin1', 0, SQLITE_MAGIC.length) !== SQLITE_MAGIC)
      throw new Error('It is no SQLite database, or an encrypted one');
    return header;
  } finally {
    closeSync(descriptor);
  }
}

/** Offsets: https://www.sqlite.org/fileformat.html, section 1.3. */
function factsInHeader(header: Buffer): object {
  const pageSize = header.readUInt16BE(16);
  return {
    journalMode: isWal(header) ? 'wal' : 'delete',
    pageSize: pageSize === 1 ? 65_536 : pageSize,
    pageCount: header.readUInt32BE(28),
    freelistCount: header.readUInt32BE(36),
    schemaVersion: header.readUInt32BE(40),
  };
}

function isWal(header: Buffer): boolean {
  return header.readUInt8(18) === 2;
}
