// Finds the programs of the database server, which most systems do not have in PATH.
import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { requireAnswer } from '#kit/answering';
import { GuardedDirectory } from '#kit/guarded-directory';

const MAX_VERSION_BYTES = 64;

/** Directories of Debian's and of the project's own packages, one for each major version. */
const PROGRAM_DIRECTORIES = [
  { parent: '/usr/lib/postgresql', folder: /^(\d+)$/ },
  { parent: '/usr', folder: /^pgsql-(\d+)$/ },
];

/**
 * The directory of `postgres` and `initdb`: of the version that created the data, otherwise from PATH, otherwise the
 * newest; undefined when there is none.
 */
export async function findServerPrograms(dataDir: string, searchPath: string): Promise<string | undefined> {
  await requireAnswer([dataDir]);
  const made = await readVersion(dataDir).catch(() => undefined);
  const installed: { version: number; directory: string }[] = [];
  for (const { parent, folder } of PROGRAM_DIRECTORIES) {
    for (const name of await readdir(parent).catch(() => [])) {
      const version = Number(folder.exec(name)?.[1]);
      const directory = path.join(parent, name, 'bin');
      if (version > 0 && (await isFile(path.join(directory, 'postgres')))) installed.push({ version, directory });
    }
  }
  installed.sort((a, b) => b.version - a.version);
  const fitting = installed.find(({ version }) => String(version) === made);
  if (fitting !== undefined) return fitting.directory;
  for (const directory of searchPath.split(':').filter(Boolean)) {
    if (await isFile(path.join(directory, 'postgres'))) return directory;
  }
  return installed[0]?.directory;
}

/** The version that created the data. The server's user, who owns the directory, can put anything in the file's place. */
async function readVersion(dataDir: string): Promise<string | undefined> {
  const file = path.join(await realpath(dataDir), 'PG_VERSION');
  const bytes = await GuardedDirectory.at(file, (place, name) => place.read(name, MAX_VERSION_BYTES));
  return bytes?.toString('utf8').trim();
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    found => found.isFile(),
    () => false,
  );
}
