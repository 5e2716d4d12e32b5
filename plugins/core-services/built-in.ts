// Components that an installed release of a core brings along, so that they are not started beside it.
import path from 'node:path';
import { fileVersion } from '#kit/fs-out-of-process';

const LOOK_LIMIT_MS = 1_000;

/** Newer releases of CLI Debrid run the battery inside the main process. Before the first install nobody can tell. */
export async function builtInComponents(cliDebridDir: unknown): Promise<ReadonlySet<string>> {
  if (typeof cliDebridDir !== 'string' || !path.isAbsolute(cliDebridDir)) return new Set();
  const [isInstalled, hasOwn] = await Promise.all([
    exists(path.join(cliDebridDir, 'main.py')),
    exists(path.join(cliDebridDir, 'cli_battery', 'main.py')),
  ]);
  return new Set(isInstalled && !hasOwn ? ['cli_battery'] : []);
}

/** false as well for what lies on a mount that does not answer. */
function exists(file: string): Promise<boolean> {
  return fileVersion(file, LOOK_LIMIT_MS).then(
    version => version !== null,
    () => false,
  );
}
