// Allows one host per configuration directory, by two locks of the kernel. They work across containers that share the
// directory, and end with the host, however it ends. One is on a file that names the host and its address; the other is
// on the directory itself, and still works when the file has been removed.
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { errorText } from '../kit/error-text.ts';
import { makeDirectory } from '../kit/make-directory.ts';
import { PrivateDirectory } from '../kit/private-directory.ts';
import { baseUrl } from './base-url.ts';
import { LOCK_DIRECTORY, LOCK_FILE, MAX_HOLDER_LENGTH } from './lock-address.ts';

const LOCK_TIMEOUT_MS = 10_000;
/**
 * Takes both locks in one order, so that one of two hosts that start at once gets both. Where a directory cannot be
 * locked, as on some network file systems, the lock on the file is enough. One shell takes both, because each child
 * process delays the start.
 */
const LOCK_BOTH = 'flock --exclusive --nonblock 3 || exit; flock --exclusive --nonblock 4; test $? -ne 1';
/** The shell's exit code for a program that it does not find. */
const NOT_FOUND = 127;
/** The errors of a directory in which this user cannot write, such as on a volume that is mounted read-only. */
const CLOSED = ['EROFS', 'EACCES', 'EPERM'];
/** The errors of a path where no directory can be made: inside a file, or below /proc. */
const ELSEWHERE = ['ENOENT', 'ENOTDIR'];

export interface InstanceLock {
  /** Tells commands on the same directory where this host listens. */
  announce(address: { readonly host: string; readonly port: number }): Promise<void>;
  release(): Promise<void>;
}

/**
 * Takes the locks, and calls `meanwhile` while the child process takes them. Rejects with an Error that names the
 * holder when another host has the directory, or that says what to do when other users may write the host's state.
 */
export async function lockInstance(configDir: string, meanwhile: () => void = () => undefined): Promise<InstanceLock> {
  await makeDirectory(configDir).catch(refuseClosed);
  const directory = await PrivateDirectory.open(configDir, [LOCK_DIRECTORY]).catch(refuseClosed);
  const file = path.join(directory.path, LOCK_FILE);
  await directory.close();
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
  const whole = await open(configDir, constants.O_RDONLY | constants.O_DIRECTORY).catch(refuseClosed);
  for (;;) {
    const handle = await open(file, flags, 0o600).catch(refuseClosed);
    try {
      const [isOurs] = await Promise.all([lock(handle, whole), meanwhile()]);
      if (!isOurs) throw new Error(await refusal(handle, configDir));
      if (await isInPlace(handle, file)) {
        await describe(handle, '');
        return {
          announce: address => describe(handle, `${baseUrl(address)}\n`),
          async release() {
            await whole.close();
            await handle.close();
          },
        };
      }
    } catch (error) {
      await whole.close();
      await handle.close();
      throw error;
    }
    // The file has been removed or replaced meanwhile, and the next host would lock another one.
    await handle.close();
  }
}

function refuseClosed(error: NodeJS.ErrnoException): never {
  const code = error.code ?? '';
  if (code === 'EEXIST')
    throw new Error(`${error.path} is no directory; choose another --config-dir`, { cause: error });
  if (ELSEWHERE.includes(code)) throw new Error(`${errorText(error)}; choose another --config-dir`, { cause: error });
  if (!CLOSED.includes(code)) throw error;
  throw new Error(`${errorText(error)}; make the configuration directory writable, or choose another --config-dir`, {
    cause: error,
  });
}

/**
 * Locks through a child process, because Node cannot lock. A lock belongs to the open file, which the child shares, so
 * it outlasts the child until this process closes the file or ends. Services never share the file, because Node opens
 * files close-on-exec.
 */
function lock(file: FileHandle, directory: FileHandle): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', LOCK_BOTH], {
      stdio: ['ignore', 'ignore', 'ignore', file.fd, directory.fd],
      timeout: LOCK_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    child.once('error', error => reject(shellFault(error)));
    child.once('exit', (code, signal) => {
      if (code === 0 || code === 1) resolve(code === 0);
      else if (code === NOT_FOUND) reject(new Error('flock cannot be run; install util-linux or busybox'));
      else reject(new Error(`the configuration directory cannot be locked: flock ended with ${code ?? signal}`));
    });
  });
}

function shellFault(cause: NodeJS.ErrnoException): Error {
  if (cause.code !== 'ENOENT') return new Error(`the shell that locks cannot be run: ${errorText(cause)}`, { cause });
  return new Error('no directory of PATH holds sh; start Stackwarden with a PATH such as /usr/bin:/bin', { cause });
}

async function isInPlace(handle: FileHandle, file: string): Promise<boolean> {
  const [locked, found] = await Promise.all([handle.stat(), stat(file).catch(() => null)]);
  return found !== null && found.ino === locked.ino && found.dev === locked.dev;
}

/** Writes who holds the lock, for other hosts and for commands. On a full disk, the holder stays without a name. */
async function describe(handle: FileHandle, address: string): Promise<void> {
  const holder = Buffer.from(`pid ${process.pid} on ${hostname()}\n${address}`);
  try {
    await handle.truncate();
    await handle.write(holder, 0, holder.length, 0);
  } catch {
    // The lock works without the description.
  }
}

async function refusal(handle: FileHandle, configDir: string): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_HOLDER_LENGTH), 0, MAX_HOLDER_LENGTH, 0);
  const [holder = ''] = buffer.toString('utf8', 0, bytesRead).split('\n');
  const other = holder === '' ? 'another Stackwarden' : `another Stackwarden (${holder})`;
  return `${other} runs on ${configDir}; stop it, or choose another --config-dir`;
}
