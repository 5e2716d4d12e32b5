// Finds the address of the service that runs on a configuration directory, from outside it. It changes nothing.
import { stat } from 'node:fs/promises';
import { baseUrl } from './base-url.ts';
import { addressInLock } from './lock-address.ts';

/**
 * Base URL of the native listener: where the host said that it listens, else where the configuration says. The latter
 * takes longer, and is needed where nothing runs, or where the host's state may not be read. Throws for a directory
 * that was named and is not there: at the usual address may be the host of another one.
 */
export async function addressOf(configDir: string, { isNamed }: { readonly isNamed: boolean }): Promise<string> {
  const told = await addressInLock(configDir);
  if (told !== undefined) return told;
  if (isNamed && (await isAbsent(configDir)))
    throw new Error(`there is no directory ${configDir}; name another with --config-dir`);
  const { configuredSettings } = await import('./configured-settings.ts');
  return baseUrl((await configuredSettings(configDir)).api);
}

/** False also for what this user may not look at. */
async function isAbsent(directory: string): Promise<boolean> {
  try {
    await stat(directory);
    return false;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}
