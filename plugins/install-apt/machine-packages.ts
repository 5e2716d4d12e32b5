// The packages of the machine itself, changed by apt-get from files: its own lists and sources stay as they are.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Problem } from '#core';
import { runChild } from '#kit/fs-out-of-process';
import { runInGroup } from '#kit/group-command';
import { GuardedDirectory } from '#kit/guarded-directory';
import { publicEnvironment } from '#kit/public-environment';
import { redact } from '#kit/redact';

const QUESTION_MS = 20_000;
/** Including the wait for other programs that change packages. */
const LIMIT_MS = 30 * 60_000;
const LOCK_S = 300;
const TOLD_LINES = 5;
const MAX_TOLD = 1_000;
/** Its output goes to a file, so that a host that ends does not end it in the midst. */
const INTO_FILE = 'exec "$@" >>"$LOG" 2>&1';
const OPTIONS = [
  '--yes',
  '--no-install-recommends',
  '--no-remove',
  '--allow-downgrades',
  `-oDPkg::Lock::Timeout=${LOCK_S}`,
  '-oDpkg::Options::=--force-confdef',
  '-oDpkg::Options::=--force-confold',
];
/** No questions, and nothing is started: programs of packages belong to the host. */
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
  readonly file: string;
  readonly sha256: string;
}

/**
 * Installs packages from files, with what they need of the machine's own sources. Once begun it is not cut off, because
 * that would leave packages half installed. Throws a Problem 409 with the end of what apt-get has said.
 */
export async function installPackages(packages: readonly PackageFile[], signal: AbortSignal): Promise<void> {
  const names = packages.map(({ name }) => name);
  const before = await installedVersions(names);
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-packages-'));
  const output = path.join(directory, 'output');
  const run = (...argv: string[]) =>
    runInGroup({
      argv: ['sh', '-c', INTO_FILE, 'sh', ...argv],
      cwd: '/',
      env: { ...publicEnvironment(process.env), ...QUIET, LOG: output },
      user: null,
      limitMs: LIMIT_MS,
      signal: new AbortController().signal,
    });
  const succeeds = (...argv: string[]) =>
    run(...argv).then(
      () => true,
      () => false,
    );
  const install = ['apt-get', 'install', ...OPTIONS];
  try {
    const files = await Promise.all(packages.map(each => ownCopy(each, directory)));
    // Mends what a power failure has left; where it fails, the installation says why.
    await succeeds('dpkg', '--configure', '-a');
    const isKnown = await succeeds(...install, '--simulate', ...files);
    signal.throwIfAborted();
    if (!isKnown) await succeeds('apt-get', 'update');
    signal.throwIfAborted();
    if (!(await succeeds(...install, ...files))) throw refused(await readFile(output, 'utf8'));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  await keepStopped(names.filter(name => !before.has(name)));
}

/** In a directory of the host alone: the file itself may be another user's, who could change it once it was looked at. */
async function ownCopy({ name, file, sha256 }: PackageFile, directory: string): Promise<string> {
  const copy = path.join(directory, `${name}.deb`);
  const hash = createHash('sha256');
  const source = await GuardedDirectory.at(file, (held, last) => held.openFile(last, 'read'));
  try {
    const counted = async function* (parts: AsyncIterable<Buffer>) {
      for await (const part of parts) {
        hash.update(part);
        yield part;
      }
    };
    await writeFile(copy, counted(source.createReadStream({ autoClose: false })), { flag: 'wx' });
  } finally {
    await source.close();
  }
  if (hash.digest('hex') === sha256) return copy;
  throw new Problem(
    502,
    `The file of the package ${name} was changed by somebody else; look at who may write to ${path.dirname(file)}`,
  );
}

/** New packages let the machine start their programs when it boots; the host starts them itself. */
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

/** undefined where there is no such program. */
async function answerOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return runChild(program, args, QUESTION_MS).then(
    ({ output }) => output,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    },
  );
}
