// Refuses a better-sqlite3 that would abort the host. With the headers of Node 24.19 and later (nodejs/node#63642), a
// C++ object removes itself from a list of Node when it is garbage-collected; when V8 collects it while no JavaScript
// runs, Node finds no list and aborts. The releases that npm fetches are compiled with older headers; a library that is
// compiled on the spot may not be.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { SqliteFault } from './sqlite-fault.ts';

/** The function of Node that only such a library calls. */
const SYMBOL = 'RemoveEnvironmentCleanupHook';

let looking: Promise<void> | undefined;

/** Throws a SqliteFault that says what to do. A library that is there is looked at once in each thread. */
export async function requireSafeLibrary(): Promise<void> {
  looking ??= look(compiledFile());
  return looking;
}

/** The same for a compiled file. A missing file is no fault here, because loading the library then fails by itself. */
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

/** The compiled file that the module at `from` loads. Throws a SqliteFault when the library is not installed. */
export function compiledFile(from = import.meta.url): string {
  try {
    const manifest = createRequire(from).resolve('better-sqlite3/package.json');
    return path.join(path.dirname(manifest), 'build', 'Release', 'better_sqlite3.node');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new SqliteFault(
      'database.unusable',
      'SQLite cannot be used, because better-sqlite3 is missing; run `npm install --omit=dev` where Stackwarden is ' +
        'installed, then restart Stackwarden',
    );
  }
}
