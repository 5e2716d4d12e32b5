// Examines files that may lie on a dead mount. A process that touches one hangs unkillably, so this process examines
// only files on local file systems, and a child that can be abandoned examines all others.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { FileLooker } from './file-looker.ts';
import { localPlaces } from './local-place.ts';
import { publicEnvironment } from './public-environment.ts';

/** Its child starts with the first question. */
const looker = new FileLooker();

export interface ChildResult {
  readonly code: number | null;
  readonly output: string;
}

/**
 * A text that changes whenever the file does; null when the file does not exist or is not accessible. Throws an Error
 * when its mount does not answer within `limitMs`.
 */
export async function fileVersion(file: string, limitMs = 5_000): Promise<string | null> {
  const isLocal = await localPlaces();
  if (await isLocal(file)) return localVersion(file);
  const [version = null] = await askVersions([file], limitMs);
  return version;
}

/** The size and the time of the last change that the version of a file holds. */
export function entryIn(version: string): { readonly bytes: number; readonly writtenNs: bigint } {
  const [, , bytes = '0', writtenNs = '0'] = version.split(':');
  return { bytes: Number(bytes), writtenNs: BigInt(writtenNs) };
}

/**
 * The versions of those files that exist, by path. One child examines all that are not local. Throws an Error when the
 * mount of a file does not answer within `limitMs`.
 */
export async function fileVersions(files: readonly string[], limitMs = 5_000): Promise<ReadonlyMap<string, string>> {
  if (files.length === 0) return new Map();
  const versions = new Map<string, string>();
  const others: string[] = [];
  const isLocal = await localPlaces();
  for (const file of files) {
    if (!(await isLocal(file))) {
      others.push(file);
      continue;
    }
    const version = await localVersion(file);
    if (version !== null) versions.set(file, version);
  }
  if (others.length === 0) return versions;
  const found = await askVersions(others, limitMs);
  for (const [index, file] of others.entries()) {
    const version = found[index] ?? null;
    if (version !== null) versions.set(file, version);
  }
  return versions;
}

function askVersions(of: readonly string[], limitMs: number): Promise<(string | null)[]> {
  return looker.ask({ kind: 'version', of }, limitMs) as Promise<(string | null)[]>;
}

async function localVersion(file: string): Promise<string | null> {
  const entry = await stat(file, { bigint: true }).catch(() => null);
  return entry && `${entry.dev}:${entry.ino}:${entry.size}:${entry.mtimeNs}`;
}

/**
 * The names in a directory; none when it does not exist. Throws an Error when its mount does not answer within
 * `limitMs`.
 */
export async function listNames(directory: string, limitMs = 5_000): Promise<string[]> {
  const isLocal = await localPlaces();
  if (await isLocal(directory)) return readdir(directory).catch(() => []);
  const [names] = await looker.ask({ kind: 'names', of: [directory] }, limitMs);
  return names as string[];
}

/**
 * Runs a command and collects its output. `as` is the user of the child, by default that of the host. Throws an Error
 * when the child does not end in time.
 */
export function runChild(
  command: string,
  args: readonly string[],
  limitMs: number,
  as: { readonly uid?: number; readonly gid?: number } = {},
): Promise<ChildResult> {
  return new Promise((resolve, reject) => {
    const env = publicEnvironment(process.env);
    const child: ChildProcess = spawn(command, args, { ...as, env, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      child.stdout?.destroy();
      child.unref();
      reject(new Error(`${args.at(-1)} does not answer`));
    }, limitMs);
    child.on('error', error => {
      clearTimeout(timer);
      reject(error);
    });
    // A child that could not be made, because no descriptors were left, has no streams.
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('close', code => {
      clearTimeout(timer);
      resolve({ code, output });
    });
  });
}
