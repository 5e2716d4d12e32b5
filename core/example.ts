// The example stack: written once, into a configuration directory that holds no configuration yet.
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findConfigFile } from './config/load.ts';

const WEB_PORT = 8081;

export interface ExampleOptions {
  readonly configDir: string;
  readonly templatesDir: string;
}

/** Does nothing where a configuration exists. The programs are copied, so that they can be changed freely. */
export async function writeExample({ configDir, templatesDir }: ExampleOptions): Promise<void> {
  await mkdir(configDir, { recursive: true });
  if ((await findConfigFile(configDir)) !== null) return;
  const directory = path.join(configDir, 'example');
  await cp(path.join(templatesDir, 'example'), directory, { recursive: true });
  // Without a package.json of their own the programs would not be modules outside this project.
  await writeFile(path.join(directory, 'package.json'), '{ "type": "module" }\n');
  const program = (name: string): string[] => [process.execPath, path.join(directory, name)];
  const config = {
    dumb: {
      auto_restart: {
        enabled: true,
        backoff_seconds: [2, 5, 10],
        max_restarts: 10,
        services: [{ process_name: 'Example Crasher' }],
      },
      startup: { stabilization_seconds: 3, readiness_poll_interval_seconds: 1 },
    },
    example_web: {
      enabled: true,
      process_name: 'Example Web',
      command: program('web.js'),
      config_dir: directory,
      port: WEB_PORT,
      env: { PORT: '{port}' },
      health: { path: '/health' },
    },
    example_worker: {
      enabled: true,
      process_name: 'Example Worker',
      command: program('worker.js'),
      config_dir: directory,
      log_file: path.join(configDir, 'log', 'example-worker.log'),
      wait_for_url: [{ url: `http://127.0.0.1:${WEB_PORT}/health`, process_name: 'Example Web' }],
    },
    example_crasher: {
      enabled: true,
      process_name: 'Example Crasher',
      command: program('crasher.js'),
      config_dir: directory,
    },
  };
  await writeFile(path.join(configDir, 'stackwarden.json'), `${JSON.stringify(config, null, 4)}\n`, {
    mode: 0o600,
    flag: 'wx',
  });
}
