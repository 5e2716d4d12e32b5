// Finds the address of the service that runs on a configuration directory, from outside it. It changes nothing.
import { baseUrl } from './base-url.ts';
import { addressInLock } from './lock-address.ts';

/**
 * Base URL of the native listener: where the host said that it listens, else where the configuration says. The latter
 * takes longer, and is needed where nothing runs, or where the host's state may not be read.
 */
export async function addressOf(configDir: string): Promise<string> {
  const told = await addressInLock(configDir);
  if (told !== undefined) return told;
  const { configuredSettings } = await import('./configured-settings.ts');
  return baseUrl((await configuredSettings(configDir)).api);
}
