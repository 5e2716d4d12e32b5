// Changes a database of a service from a child that runs as the service's user, because SQLite follows what lies beside
// the file, and what lies there is the service's.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { publicEnvironment } from './public-environment.ts';
import { remedyIn } from './sqlite-fault.ts';

const BUSY_TIMEOUT_MS = 10_000;

export interface DatabaseChange {
  readonly file: string;
  /** null for the host's own user. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Text of a function of the open database and of `input`. What it returns is the result. It runs in a transaction. */
  readonly change: string;
  /** Plain data. */
  readonly input: unknown;
  readonly limitMs: number;
}

/** The library is loaded before the rights are given up, because the user may not reach it. */
const SCRIPT = `
const { library, file, user, change, input, busyTimeoutMs } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const Database = require(library)
new Database(':memory:').close()
if (user !== null) { process.setgroups([]); process.setgid(user.gid); process.setuid(user.uid) }
const db = new Database(file, { fileMustExist: true, timeout: busyTimeoutMs })
const run = new Function('db', 'input', 'return (' + change + ')(db, input)')
process.stdout.write(JSON.stringify(db.transaction(() => run(db, input))() ?? null))
`;

/** Throws an Error that names the file when it cannot be changed within the limit; then nothing was changed. */
export function changeDatabaseAs({ file, user, change, input, limitMs }: DatabaseChange): Promise<unknown> {
  const library = createRequire(import.meta.url).resolve('better-sqlite3');
  const request = { library, file, user, change, input, busyTimeoutMs: BUSY_TIMEOUT_MS };
  return new Promise((resolve, reject) => {
    const options = {
      timeout: limitMs,
      killSignal: 'SIGKILL',
      cwd: '/',
      env: publicEnvironment(process.env),
    } as const;
    const child = execFile(process.execPath, ['-e', SCRIPT], options, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout));
      else reject(new Error(`${file} cannot be changed: ${reasonIn(stderr)}`));
    });
    child.stdin?.on('error', () => undefined).end(JSON.stringify(request));
  });
}

function reasonIn(words: string): string {
  return remedyIn(words) ?? /^\w*Error: (.*)$/m.exec(words)?.[1] ?? 'it does not answer';
}
