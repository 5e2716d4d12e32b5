// Runs a command again in a process to which the runtime gives the right to read files and nothing more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');

/**
 * Plugins are imported and set up by the commands that look. There no file can be written by anybody, no program started
 * and no native code loaded, in that process, whatever a plugin tries. From the sources the TypeScript loader needs threads
 * and a compiler of its own, which are left to it; its cache is not.
 */
export async function onlyReading(command: () => Promise<number>): Promise<number> {
  if (process.permission !== undefined) return command();
  const restrict = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const forLoader = RUNS_FROM_SOURCE ? ['--allow-worker', '--allow-child-process'] : [];
  const [script = '', ...args] = process.argv.slice(1);
  const child = spawn(
    process.execPath,
    [...process.execArgv, '--no-warnings', restrict, '--allow-fs-read=*', ...forLoader, script, ...args],
    { stdio: 'inherit', env: { ...process.env, ...(RUNS_FROM_SOURCE ? { TSX_DISABLE_CACHE: '1' } : {}) } },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
