// Runs a command again in a process that Node's permission model allows to read files and nothing more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');

/**
 * For commands that only report, but import and set up plugins: in the new process a plugin cannot write files, start
 * programs or load native code. When running from sources, threads and child processes are allowed, because the
 * TypeScript loader needs them; its cache is off.
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
