// Uses a database of a service from a child that runs as the service's user, because SQLite also opens files beside the
// database, and the service decides what lies there.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { helperEnvironment } from './helper-environment.ts';
import { remedyIn } from './sqlite-fault.ts';
import { requireSafeLibrary } from './sqlite-library.ts';

const BUSY_TIMEOUT_MS = 10_000;

/**
 * `change` runs in a transaction. `maintain` runs outside of one, as some statements must. `read` changes nothing.
 * `read-at-rest` does not even make the files of a write-ahead log, so no program may have the database open.
 */
type Access = 'change' | 'maintain' | 'read' | 'read-at-rest';

interface DatabaseWork {
  readonly file: string;
  /** null for the host's own user. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Plain data. */
  readonly input: unknown;
  readonly limitMs: number;
}

export interface DatabaseChange extends DatabaseWork {
  /**
   * Text of a function of the open database and of `input`. What it returns is the result. It runs in a transaction.
   */
  readonly change: string;
}

export interface DatabaseUse extends DatabaseWork {
  readonly access: Access;
  /** Text of a function of the open database and of `input`. What it returns is the result. */
  readonly work: string;
  /** Ends the child. */
  readonly signal?: AbortSignal;
}

/** Its message names the file and the reason. */
export class DatabaseUseError extends Error {
  /** Whether the child was ended at its limit, or by its signal. */
  readonly isLate: boolean;
  /** What SQLite calls the reason, such as `SQLITE_BUSY`; undefined for a reason that is none of SQLite. */
  readonly sqliteCode: string | undefined;

  constructor(message: string, isLate: boolean, sqliteCode?: string) {
    super(message);
    this.isLate = isLate;
    this.sqliteCode = sqliteCode;
  }
}

/** The library is loaded before the rights are given up, because the user may not reach it. */
const SCRIPT = `
const { library, file, user, access, work, input, busyTimeoutMs } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const Database = require(library)
new Database(':memory:').close()
if (user !== null) { process.setgroups([]); process.setgid(user.gid); process.setuid(user.uid) }
const isRead = access.startsWith('read')
const uri = 'file:' + file.replace(/[%?#]/g, encodeURIComponent) + '?immutable=1'
const options = { readonly: isRead, fileMustExist: true, timeout: busyTimeoutMs }
const db = new Database(access === 'read-at-rest' ? uri : file, options)
const run = new Function('db', 'input', 'return (' + work + ')(db, input)')
const result = access === 'change' ? db.transaction(() => run(db, input))() : run(db, input)
if (access === 'maintain') db.close()
process.stdout.write(JSON.stringify(result ?? null))
`;
/** The variable by which better-sqlite3 takes `file:` URIs. */
const WITH_ADDRESSES = { SQLITE_USE_URI: '1' };
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * What `change` returns. Throws a DatabaseUseError when it fails or takes longer than the limit; then nothing was
 * changed.
 */
export async function changeDatabaseAs({ change, ...given }: DatabaseChange): Promise<unknown> {
  return useDatabase({ ...given, access: 'change', work: change }, 'changed');
}

/** What `work` returns. Throws a DatabaseUseError when it fails, or takes longer than the limit. */
export async function useDatabaseAs(use: DatabaseUse): Promise<unknown> {
  return useDatabase(use, use.access === 'maintain' ? 'written' : 'read');
}

async function useDatabase({ signal, limitMs, file, ...rest }: DatabaseUse, verb: string): Promise<unknown> {
  await requireSafeLibrary().catch((error: Error) => {
    throw new DatabaseUseError(`${file} cannot be ${verb}: ${error.message}`, false);
  });
  const library = createRequire(import.meta.url).resolve('better-sqlite3');
  const request = { library, file, ...rest, busyTimeoutMs: BUSY_TIMEOUT_MS };
  return new Promise((resolve, reject) => {
    const options = {
      timeout: limitMs,
      killSignal: 'SIGKILL',
      cwd: '/',
      env: { ...helperEnvironment(), ...(rest.access === 'read-at-rest' ? WITH_ADDRESSES : {}) },
      maxBuffer: MAX_ANSWER_BYTES,
      ...(signal === undefined ? {} : { signal }),
    } as const;
    const child = execFile(process.execPath, ['-e', SCRIPT], options, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout));
      else {
        const message = `${file} cannot be ${verb}: ${reasonIn(stderr)}`;
        reject(new DatabaseUseError(message, error.killed === true, codeIn(stderr)));
      }
    });
    child.stdin?.on('error', () => undefined).end(JSON.stringify(request));
  });
}

/** The code in the text that Node writes about an error that nothing has caught. */
function codeIn(words: string): string | undefined {
  return /^ {2}code: '(SQLITE_\w+)'$/m.exec(words)?.[1];
}

function reasonIn(words: string): string {
  return remedyIn(words) ?? /^\w*Error: (.*)$/m.exec(words)?.[1] ?? 'it does not answer';
}
