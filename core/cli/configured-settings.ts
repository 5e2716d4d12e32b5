// The host's own settings as the configuration has them, for commands. It changes nothing.
import { openConfig } from '../config/open.ts';
import { readSettings, type Settings } from '../host/settings.ts';
import { createEarlyLog } from '../log/early-log.ts';

export async function configuredSettings(configDir: string): Promise<Settings> {
  const config = await openConfig({ configDir, log: createEarlyLog(), env: process.env, readOnly: true });
  const settings = readSettings(config.store.root());
  await config.close();
  return settings;
}
