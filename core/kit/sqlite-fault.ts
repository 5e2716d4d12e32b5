// Describes faults of a database in words for a user; faults that a user can fix have a code.

export type SqliteFaultCode =
  | 'database.busy'
  | 'database.full'
  | 'database.read-only'
  | 'database.corrupt'
  | 'database.newer'
  | 'database.unusable';

/** A fault that a user can cause and fix. */
export class SqliteFault extends Error {
  readonly code: SqliteFaultCode;

  constructor(code: SqliteFaultCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

const KINDS: readonly [RegExp, SqliteFaultCode, string][] = [
  [/^SQLITE_(BUSY|LOCKED)/, 'database.busy', 'is locked by another process; end what uses it, or try again'],
  [/^SQLITE_FULL|^ENOSPC|^EDQUOT/, 'database.full', 'cannot grow; free some space on its disk'],
  [
    /^SQLITE_(READONLY|PERM|AUTH)|^EROFS|^EACCES|^EPERM/,
    'database.read-only',
    'cannot be written; check its permissions and that its disk is not read-only',
  ],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'database.corrupt', 'is damaged; restore it from a backup, or move it away'],
  [/^SQLITE_(CANTOPEN|IOERR|NOLFS|PROTOCOL)/, 'database.unusable', 'cannot be read or written; check its disk'],
];

/** The fault behind an error of SQLite or of the file system; undefined when the statement itself is at fault. */
export function faultOf(error: unknown, file: string): SqliteFault | undefined {
  if (error instanceof SqliteFault) return error;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return undefined;
  const kind = KINDS.find(([pattern]) => pattern.test(code));
  return kind && new SqliteFault(kind[1], `The database ${file} ${kind[2]}`, error);
}
