// Finds the address of the service that runs on a configuration directory, from outside it. It changes nothing.
import { openConfig } from '../config/open.ts';
import { readSettings } from '../host/settings.ts';
import { createEarlyLog } from '../log/early-log.ts';

/** Base URL of the native listener, from the configuration. */
export async function addressOf(configDir: string): Promise<string> {
  const config = await openConfig({ configDir, log: createEarlyLog(), env: process.env, readOnly: true });
  const { host, port } = readSettings(config.store.root()).api;
  await config.close();
  const target = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${target.includes(':') ? `[${target}]` : target}:${port}`;
}

export function nothingAnswers(url: string, cause: unknown): Error {
  return new Error(`nothing answers at ${url}; is the service running?`, { cause });
}
