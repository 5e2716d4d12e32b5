// Removes packages that a test installs in the machine itself, and keeps apt-get away from the machine's sources.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';

const run = promisify(execFile);
/** Waits for the lock, because other test files may install packages at the same time. */
const LOCK_S = 300;

/** Whether packages can be installed here. */
export const hasPackages = process.geteuid?.() === 0 && existsSync('/usr/bin/apt-get');

/** Removes packages with these names when the test ends. Until then apt-get uses package lists of the test's own. */
export async function ownPackages(t: Pick<Test, 'teardown'>, names: readonly string[]): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-apt-'));
  const file = path.join(directory, 'apt.conf');
  await writeFile(
    file,
    `Dir::Etc::sourcelist "/dev/null"; Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "${directory}/lists"; Dir::Cache "${directory}"; Dpkg::Options:: "--force-unsafe-io";`,
  );
  const before = process.env.APT_CONFIG;
  process.env.APT_CONFIG = file;
  t.teardown(async () => {
    try {
      const known = await installed(names);
      if (known.length > 0) await run('apt-get', ['purge', '--yes', `-oDPkg::Lock::Timeout=${LOCK_S}`, ...known]);
    } finally {
      if (before === undefined) delete process.env.APT_CONFIG;
      else process.env.APT_CONFIG = before;
      await rm(directory, { recursive: true });
    }
  });
}

/** Which of these packages dpkg knows, including those that are only partly installed. */
export async function installed(names: readonly string[]): Promise<string[]> {
  const known = await run('dpkg-query', ['-W', ...names]).catch((error: { stdout?: string }) => {
    // dpkg-query exits with an error when it does not know one of the packages.
    if (error.stdout === undefined) throw error;
    return { stdout: error.stdout };
  });
  return known.stdout
    .split('\n')
    .map(line => line.split('\t', 1)[0] ?? '')
    .filter(Boolean);
}

/** Id and code name of the machine's system, as repositories of packages use them. */
export async function systemOf(): Promise<{ readonly id: string; readonly codename: string }> {
  const text = await readFile('/etc/os-release', 'utf8');
  const told = (name: string) => new RegExp(`^${name}="?([a-z0-9.-]+)"?$`, 'm').exec(text)?.[1] ?? '';
  return { id: told('ID'), codename: told('VERSION_CODENAME') };
}
