// Starts a stack of stand-ins for media managers and download services, which record what they are told.
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { testDir } from './directory.ts';
import { startHost, type TestHost } from './host.ts';
import { freePort } from './stackwarden.ts';

const app = fileURLToPath(new URL('./arr-app.cjs', import.meta.url));
const infinidysk = fileURLToPath(new URL('./infinidysk-app.cjs', import.meta.url));
export const webApp = fileURLToPath(new URL('./web-app.cjs', import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: what an application holds has any shape
export type State = any;

export const stateOf = async (dir: string, name: string): Promise<State> =>
  JSON.parse(await readFile(path.join(dir, name, 'config.xml.state.json'), 'utf8'));
export const keyOf = async (dir: string, name: string): Promise<string> =>
  /<ApiKey>(.*)<\/ApiKey>/.exec(await readFile(path.join(dir, name, 'config.xml'), 'utf8'))?.[1] ?? '';
export const fieldsOf = (entry: State): Record<string, unknown> =>
  Object.fromEntries(entry.fields.map((field: State) => [field.name, field.value]));

/**
 * A block with its directory and settings file, which any user may write. The application adds its key at its first
 * start.
 */
export async function arr(dir: string, kind: string, name: string, more: object = {}, settings = '') {
  const port = await freePort();
  const file = path.join(dir, name, 'config.xml');
  await mkdir(path.dirname(file));
  await writeFile(file, `<Config>\n${settings}</Config>\n`);
  for (const place of [path.dirname(file), file]) await chmod(place, 0o777);
  return {
    enabled: true,
    process_name: name,
    port,
    config_dir: path.dirname(file),
    config_file: file,
    command: [process.execPath, app, kind, String(port), file],
    ...more,
  };
}

/** A block of a program that only listens, in place of a download service. */
export async function listener(dir: string, name: string, more: object = {}) {
  const port = await freePort();
  return {
    enabled: true,
    process_name: name,
    port,
    config_dir: dir,
    command: [process.execPath, webApp, String(port)],
    ...more,
  };
}

/** A block of a stand-in for InfiniDysk; `file` keeps the settings that it is given. */
export const infinidyskBlock = async (dir: string, port: number, file: string) => ({
  enabled: true,
  process_name: 'InfiniDysk',
  config_dir: dir,
  backend_port: port,
  frontend_port: await freePort(),
  env: { FRONTEND_BACKEND_API_KEY: 'the-key-of-infinidysk' },
  command: [process.execPath, infinidysk, String(port), file, 'the-key-of-infinidysk'],
});

/** With `setUp` false, the directories that templates name outside of `dir` are not created. */
export async function startStack(
  t: Parameters<typeof testDir>[0],
  dir: string,
  setUp: boolean,
  config: object,
): Promise<TestHost> {
  const configDir = path.join(dir, 'host');
  await mkdir(configDir, { recursive: true });
  const running = await startHost({
    plugins: 'services',
    configDir,
    config: {
      data_root: dir,
      dumb: {
        startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.2, readiness_timeout_seconds: 3 },
        integrations: { retry_seconds: 0.2, answer_seconds: 6 },
        integration_arr: { library_dir: path.join(dir, 'library') },
        plugins: { disabled: setUp ? [] : ['setup'] },
      },
      ...config,
    },
  });
  t.teardown(() => running.stop());
  return running;
}
