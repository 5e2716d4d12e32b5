// Finds programs that tests need, and installs the Debian packages that contain them when they are missing.
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Limits an installation, including the wait for the lock. */
const LIMIT_MS = 600_000;
const cacheDir = fileURLToPath(new URL('../../node_modules/.cache/stackwarden', import.meta.url));

/** The path of the first of `programs` that exists; `packages` are installed when none does. */
export async function programOf(programs: readonly string[], packages: readonly string[]): Promise<string> {
  const found = (await find(programs)) ?? (await install(programs, packages));
  if (found === undefined) throw new Error(`${packages.join(', ')} was installed, but ${programs[0]} is not on PATH`);
  return found;
}

async function find(programs: readonly string[]): Promise<string | undefined> {
  for (const name of programs) {
    const found = await run('which', [name]).catch(() => undefined);
    if (found !== undefined) return found.stdout.trim();
  }
  return undefined;
}

async function install(programs: readonly string[], packages: readonly string[]): Promise<string | undefined> {
  process.stderr.write(`${packages.join(', ')}: not here, installing with apt-get ...\n`);
  await mkdir(cacheDir, { recursive: true });
  // One test file installs while others wait for the lock. The kernel releases the lock when its holder ends.
  const apt = (...args: string[]) =>
    run('flock', [path.join(cacheDir, 'apt.lock'), 'apt-get', ...args], {
      timeout: LIMIT_MS,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  try {
    await apt('update');
    await apt('install', '-y', '--no-install-recommends', ...packages);
  } catch (error) {
    throw new Error(`these tests need ${packages.join(', ')}, which apt-get could not install`, { cause: error });
  }
  return find(programs);
}
