// Finds programs that tests need, and installs the Debian packages that contain them when they are missing.
import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { until } from './until.ts';

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 300_000;

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

/** Test files run in parallel, so one of them installs while the others wait for its lock. */
async function install(programs: readonly string[], packages: readonly string[]): Promise<string | undefined> {
  const lock = path.join(tmpdir(), 'stackwarden-test-install.lock');
  const claim = () =>
    mkdir(lock).then(
      () => true,
      () => false,
    );
  await until(claim, { timeoutMs: INSTALL_LIMIT_MS, what: 'the installation of another test' });
  try {
    const found = await find(programs);
    if (found !== undefined) return found;
    const options = { timeout: INSTALL_LIMIT_MS, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
    await run('apt-get', ['update'], options);
    await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], options);
  } catch (error) {
    throw new Error(`these tests need ${packages.join(', ')}, which apt-get could not install`, { cause: error });
  } finally {
    await rm(lock, { recursive: true });
  }
  return find(programs);
}
