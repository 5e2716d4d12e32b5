// The example stack: written once, into a configuration directory that holds no configuration yet.
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { findConfigFile } from '../config/load.ts';

const FIRST_WEB_PORT = 8_081;

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
  // The worker's address names the port, so it is settled here rather than moved at the first start.
  const webPort = await freePortFrom(FIRST_WEB_PORT);
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
      port: webPort,
      env: { PORT: '{port}' },
      health: { path: '/health' },
    },
    example_worker: {
      enabled: true,
      process_name: 'Example Worker',
      command: program('worker.js'),
      config_dir: directory,
      log_file: path.join(configDir, 'log', 'example-worker.log'),
      wait_for_url: [{ url: `http://127.0.0.1:${webPort}/health`, process_name: 'Example Web' }],
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

/** The first port that nothing listens on. */
async function freePortFrom(first: number): Promise<number> {
  for (let port = first; ; port += 1) {
    const isFree = await new Promise<boolean>(resolve => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
