// Starts a host on a configuration file that a test writes, and reads the entries of its services.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Test } from 'tap';
import { testDir } from './directory.ts';
import { startHost, type TestHost } from './host.ts';

export type Values = Record<string, unknown>;

/** A service block without dependencies, which runs until it is stopped. */
export const sleeper = (name: string, more: Values = {}): Values => ({
  enabled: true,
  process_name: name,
  command: ['sleep', '1000'],
  ...more,
});

/** The host stops, and the directory of its configuration is removed, with the test. */
export async function openWith(t: Test, config: Values, plugins: readonly string[], env?: NodeJS.ProcessEnv) {
  const configDir = testDir(t, {});
  const file = path.join(configDir, 'stackwarden.json');
  const dumb = { log_dir: path.join(configDir, 'log'), gateway: { enabled: false } };
  const good: Values = { puid: 65_534, pgid: 65_534, ...config, dumb };
  await writeFile(file, JSON.stringify(good));
  const app = await startHost({ plugins, configDir, ...(env === undefined ? {} : { env }) });
  t.teardown(() => app.stop());
  return { app, file, good };
}

export const entries = async (app: TestHost): Promise<readonly Values[]> =>
  (await app.get('/process/processes')).body.processes;
export const entryOf = async (app: TestHost, name: string) =>
  (await entries(app)).find(({ process_name }) => process_name === name) as Values;
export const isRunning = async (app: TestHost, name: string) => (await entryOf(app, name))?.status === 'running';
