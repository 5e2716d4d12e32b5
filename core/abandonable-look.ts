// Looks at files from a child that is left behind: whoever looks at a mount that is dead hangs with it, and may not even be
// killed.
import { spawn } from 'node:child_process';

/** Changes with the file. null: there is none, or none that can be seen. Throws an Error when nothing answers in time. */
export async function fileVersion(file: string, limitMs = 5_000): Promise<string | null> {
  return (await runOutside('stat', ['-L', '-c', '%d:%i:%s:%y', '--', file], limitMs))?.trim() ?? null;
}

/** Names in a directory, none when there is no such directory. Throws an Error when nothing answers in time. */
export async function namesOutside(directory: string, limitMs = 5_000): Promise<string[]> {
  const output = (await runOutside('ls', ['-A', '--', directory], limitMs)) ?? '';
  return output.split('\n').filter(name => name !== '');
}

/** null: the command failed. */
function runOutside(command: string, args: readonly string[], limitMs: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
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
      resolve(code === 0 ? output : null);
    });
  });
}
