// The address of the native listener as the configuration has it. It changes nothing.
import { openConfig } from '../config/open.ts';
import { readSettings } from '../host/settings.ts';
import { createEarlyLog } from '../log/early-log.ts';
import { baseUrl } from './base-url.ts';

export async function configuredAddress(configDir: string): Promise<string> {
  const config = await openConfig({ configDir, log: createEarlyLog(), env: process.env, readOnly: true });
  const { api } = readSettings(config.store.root());
  await config.close();
  return baseUrl(api);
}
