// Looks at files from a child that is left behind: whoever looks at a mount that is dead hangs with it, and may not even be
// killed.
import { spawn } from 'node:child_process';

/** Device, inode, size and time of the last change. */
const VERSION = '%d:%i:%s:%y';

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** Changes with the file. null: there is none, or none that can be seen. Throws an Error when nothing answers in time. */
export async function fileVersion(file: string, limitMs = 5_000): Promise<string | null> {
  const { code, output } = await runOutside('stat', ['-L', '-c', VERSION, '--', file], limitMs);
  return code === 0 ? output.trim() : null;
}

/** Versions of those that are there, by file; one child looks at all. Throws an Error when one does not answer in time. */
export async function fileVersions(files: readonly string[], limitMs = 5_000): Promise<ReadonlyMap<string, string>> {
  if (files.length === 0) return new Map();
  const { output } = await runOutside('stat', ['-L', '-c', `${VERSION}|%n`, '--', ...files], limitMs);
  const lines = output.split('\n').filter(line => line.includes('|'));
  return new Map(lines.map(line => [line.slice(line.indexOf('|') + 1), line.slice(0, line.indexOf('|'))]));
}

/** Names in a directory, none when there is no such directory. Throws an Error when nothing answers in time. */
export async function namesOutside(directory: string, limitMs = 5_000): Promise<string[]> {
  const { code, output } = await runOutside('ls', ['-A', '--', directory], limitMs);
  return code === 0 ? output.split('\n').filter(name => name !== '') : [];
}

/** `as`: who the child is; absent: who the host is. Throws an Error when the child does not end in time. */
export function runOutside(
  command: string,
  args: readonly string[],
  limitMs: number,
  as: { readonly uid?: number; readonly gid?: number } = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...as, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.unref();
      reject(new Error(`${args.at(-1)} does not answer`));
    }, limitMs);
    child.on('error', error => {
      clearTimeout(late);
      reject(error);
    });
    child.on('close', code => {
      clearTimeout(late);
      resolve({ code, output });
    });
  });
}
