// Writes the configuration of a host that runs in a process of its own, on a port that no other test takes. Imports no
// test library.
import { randomInt } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';

interface MainConfig {
  readonly [key: string]: unknown;
  readonly dumb: Record<string, unknown>;
}

/** Rewrites the file while its host runs, as a person with an editor does. */
export async function changeMainFile(configDir: string, change: (config: MainConfig) => object): Promise<void> {
  const file = path.join(configDir, 'stackwarden.json');
  await writeFile(file, JSON.stringify(change(JSON.parse(await readFile(file, 'utf8')) as MainConfig)));
}

/** Test files that run at the same time take their ports from different ranges. */
const PORTS_OF_A_JOB = 1_000;
const FIRST_PORT = 20_000 + (Number(process.env.TAP_JOB_ID ?? 0) % 12) * PORTS_OF_A_JOB;
const given = new Set<number>();

/** Writes a configuration with its own free port, its own log directory and no gateway; returns the port. */
export async function writeConfig(configDir: string, config: Record<string, unknown> = {}): Promise<number> {
  const port = await freePort();
  const dumb = (config.dumb ?? {}) as Record<string, unknown>;
  await mkdir(configDir, { recursive: true });
  await writeFile(
    path.join(configDir, 'stackwarden.json'),
    JSON.stringify({
      puid: 65_534,
      pgid: 65_534,
      ...config,
      dumb: {
        log_dir: path.join(configDir, 'log'),
        gateway: { enabled: false },
        ...dumb,
        api_service: { port, ...(dumb.api_service as object | undefined) },
      },
    }),
  );
  return port;
}

/** A port that is free now, outside the range from which outgoing connections get theirs. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + randomInt(PORTS_OF_A_JOB);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
