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

/** The errors of loading the library after an interrupted installation, and under another version of Node. */
const NOT_BUILT = /Could not locate the bindings file|compiled against a different Node\.js version/;
const BUILD_IT =
  'SQLite is not built for this machine and this Node; run `npm rebuild better-sqlite3` where Stackwarden is installed';

/** What to do when the text of an error says that SQLite itself is missing; undefined for any other text. */
export function remedyIn(text: string): string | undefined {
  return NOT_BUILT.test(text) ? BUILD_IT : undefined;
}

/** The fault behind an error of SQLite or of the file system; undefined when the statement itself is at fault. */
export function faultOf(error: unknown, file: string): SqliteFault | undefined {
  if (error instanceof SqliteFault) return error;
  const remedy = error instanceof Error ? remedyIn(error.message) : undefined;
  if (remedy !== undefined)
    return new SqliteFault('database.unusable', `The database ${file} cannot be opened: ${remedy}`);
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return undefined;
  const kind = KINDS.find(([pattern]) => pattern.test(code));
  return kind && new SqliteFault(kind[1], `The database ${file} ${kind[2]}`, error);
}
