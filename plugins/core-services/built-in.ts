// Components that an installed release of a core brings along, so that they are not started beside it.
import { access } from 'node:fs/promises';
import path from 'node:path';

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
async function exists(file: string): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(() => resolve(false), LOOK_LIMIT_MS);
  });
  const found = access(file).then(
    () => true,
    () => false,
  );
  return Promise.race([found, late]).finally(() => clearTimeout(timer));
}
