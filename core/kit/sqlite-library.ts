// Refuses a better-sqlite3 with which the host would end. Since 24.19 (nodejs/node#63642) what Node's headers make of
// an object in C++ takes itself off a list of Node when it is collected, and where V8 collects between two pieces of
// JavaScript, Node finds that it has no list and aborts. Releases that npm fetches are made with older headers; what is
// compiled on the spot is not.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { SqliteFault } from './sqlite-fault.ts';

/** The function of Node that only such a library calls. */
const SYMBOL = 'RemoveEnvironmentCleanupHook';

let looking: Promise<void> | undefined;

/** Throws a SqliteFault that says how to mend it. The library is looked at once in each thread. */
export function requireSafeLibrary(): Promise<void> {
  looking ??= look(compiledFile());
  return looking;
}

/** The same for the file with what was compiled. Where there is none, whoever loads the library is told. */
export async function look(file: string): Promise<void> {
  const code = await readFile(file).catch(() => Buffer.alloc(0));
  if (!code.includes(SYMBOL)) return;
  throw new SqliteFault(
    'database.unusable',
    `SQLite cannot be used, because better-sqlite3 was compiled for Node ${process.versions.node} and would end ` +
      'Stackwarden; compile it with headers before 24.19 (`npm rebuild better-sqlite3 --build-from-source ' +
      '--target=24.16.0` for Node 24) or use Node 22, then restart Stackwarden',
  );
}

function compiledFile(): string {
  const manifest = createRequire(import.meta.url).resolve('better-sqlite3/package.json');
  return path.join(path.dirname(manifest), 'build', 'Release', 'better_sqlite3.node');
}
