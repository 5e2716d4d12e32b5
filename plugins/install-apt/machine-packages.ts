// Installs packages on the machine by apt-get, from files. The machine's package sources stay as they are.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Problem } from '#core';
import { runChild } from '#kit/fs-out-of-process';
import { runInGroup } from '#kit/group-command';
import { publicEnvironment } from '#kit/public-environment';
import { redact } from '#kit/redact';

const QUESTION_MS = 20_000;
/** How long a command may take, including the wait for other programs that change packages. */
const LIMIT_MS = 30 * 60_000;
const LOCK_S = 300;
const TOLD_LINES = 5;
const MAX_TOLD = 1_000;
/** Output goes to a file, so that the command is not interrupted by a closed pipe when the host ends. */
const INTO_FILE = 'exec "$@" >>"$LOG" 2>&1';
const INSTALL = [
  'apt-get',
  'install',
  '--yes',
  '--no-install-recommends',
  '--no-remove',
  '--allow-downgrades',
  `-oDPkg::Lock::Timeout=${LOCK_S}`,
  '-oDpkg::Options::=--force-confdef',
  '-oDpkg::Options::=--force-confold',
];
/** apt-get asks nothing and starts nothing: the host starts the programs of packages itself. */
const QUIET = {
  DEBIAN_FRONTEND: 'noninteractive',
  LC_ALL: 'C',
  NEEDRESTART_SUSPEND: '1',
  RUNLEVEL: '1',
  SYSTEMD_OFFLINE: '1',
};
const FIELDS = ['db:Status-Status', 'Package', 'Version'];
const UNIT = /^\/(?:usr\/)?lib\/systemd\/system\/([\w@.-]+\.(?:service|socket|timer))$/;

/** Throws a Problem 400 that says what the machine lacks. */
export async function checkMachine(): Promise<void> {
  if (process.geteuid?.() !== 0)
    throw new Problem(
      400,
      'Its packages can be installed by root alone; run Stackwarden as root, or install them by hand',
    );
  for (const program of ['apt-get', 'dpkg-query'])
    if ((await answerOf(program, ['--version'])) === undefined)
      throw new Problem(
        400,
        `${program} is missing, because this machine is no Debian or Ubuntu; install the program in another way`,
      );
}

/** The installed versions, by name. */
export async function installedVersions(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const format = `${FIELDS.map(field => `\${${field}}`).join(' ')}\n`;
  const text = (await answerOf('dpkg-query', ['-W', '-f', format, ...names])) ?? '';
  const rows = text.split('\n').map(line => line.split(' '));
  return new Map(
    rows.flatMap(([status, name = '', version = '']) => (status === 'installed' ? [[name, version]] : [])),
  );
}

export interface PackageFile {
  readonly name: string;
  /** Absolute path of a file that nobody but the host can write. */
  readonly file: string;
}

/**
 * Downloads the dependencies of packages from the machine's own sources, so that the installation needs no network.
 * Throws a Problem 409 with the end of apt-get's output when the packages cannot be installed.
 */
export async function downloadNeeded(packages: readonly PackageFile[], signal: AbortSignal): Promise<void> {
  await withTools(async ({ succeeds, output }) => {
    const download = [...INSTALL, '--download-only', ...packages.map(({ file }) => file)];
    const isDone = await succeeds(...download);
    signal.throwIfAborted();
    if (isDone) return;
    // The machine's package lists may be outdated or missing.
    await succeeds('apt-get', 'update');
    signal.throwIfAborted();
    if (!(await succeeds(...download))) throw refused(await output());
  });
}

/**
 * Installs packages from files. The installation is never interrupted, which would leave packages half installed.
 * Throws a Problem 409 with the end of apt-get's output.
 */
export async function installPackages(packages: readonly PackageFile[]): Promise<void> {
  const names = packages.map(({ name }) => name);
  const before = await installedVersions(names);
  await withTools(async ({ succeeds, output }) => {
    if (!(await succeeds(...INSTALL, ...packages.map(({ file }) => file)))) throw refused(await output());
  });
  await keepStopped(names.filter(name => !before.has(name)));
}

interface Tools {
  /** Runs a command to its end, even if the host ends meanwhile, and returns whether it succeeded. */
  succeeds(...argv: string[]): Promise<boolean>;
  /** The output of all commands so far. */
  output(): Promise<string>;
}

async function withTools(use: (tools: Tools) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-packages-'));
  const file = path.join(directory, 'output');
  const succeeds = (...argv: string[]): Promise<boolean> =>
    runInGroup({
      argv: ['sh', '-c', INTO_FILE, 'sh', ...argv],
      cwd: '/',
      env: { ...publicEnvironment(process.env), ...QUIET, LOG: file },
      user: null,
      limitMs: LIMIT_MS,
      mayLeave: true,
      signal: new AbortController().signal,
    }).then(
      () => true,
      () => false,
    );
  try {
    // Completes an installation that a power failure interrupted. If this fails, the next command says why.
    await succeeds('dpkg', '--configure', '-a');
    await use({ succeeds, output: () => readFile(file, 'utf8') });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Disables the systemd units of new packages, which would start programs at boot that the host starts itself. */
async function keepStopped(names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const files = ((await answerOf('dpkg-query', ['-L', ...names])) ?? '').split('\n');
  const units = files.flatMap(file => UNIT.exec(file)?.[1] ?? []);
  if (units.length > 0) await answerOf('systemctl', ['disable', ...units]);
}

function refused(output: string): Problem {
  const lines = output.split('\n').map(line => line.trim());
  const told = redact(lines.filter(Boolean).slice(-TOLD_LINES).join('; ').slice(0, MAX_TOLD));
  return new Problem(
    409,
    `apt-get could not install the packages (${told}); mend it with apt-get --fix-broken install, then try again`,
  );
}

/** The output of a program; undefined when it is not installed. */
async function answerOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return runChild(program, args, QUESTION_MS).then(
    ({ output }) => output,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    },
  );
}
