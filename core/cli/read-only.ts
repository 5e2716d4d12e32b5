// Runs a command again in a process that Node's permission model allows to read files and nothing more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');

/**
 * Commands that only report still import and set up plugins. In their process a plugin cannot write files, start
 * programs or load native code, whatever it tries. When running from sources, the TypeScript loader needs threads and a
 * child process, which are allowed; its cache is off.
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
