// Finds the address of the host that runs on a configuration directory, for commands. It changes nothing.
import { stat } from 'node:fs/promises';
import { baseUrl } from './base-url.ts';
import { addressInLock } from './lock-address.ts';

/**
 * Base URL of the native listener: the one that the host has announced, else the configured one. The latter takes
 * longer to find, and is needed when no host runs or its state may not be read. Rejects with an Error for a given
 * directory that does not exist, because the default address may be that of a host on another directory.
 */
export async function addressOf(configDir: string, { isNamed }: { readonly isNamed: boolean }): Promise<string> {
  const told = await addressInLock(configDir);
  if (told !== undefined) return told;
  if (isNamed && (await isAbsent(configDir)))
    throw new Error(`there is no directory ${configDir}; name another with --config-dir`);
  const { configuredSettings } = await import('./configured-settings.ts');
  return baseUrl((await configuredSettings(configDir)).api);
}

/** Whether the directory does not exist; false when this user may not look. */
async function isAbsent(directory: string): Promise<boolean> {
  try {
    await stat(directory);
    return false;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}
