// Starts a build once, so that V8's compiled code is kept and need not be made at every start.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('./warm-start.ts', import.meta.url));
const LIMIT_MS = 120_000;

/**
 * Prints a failure and does not throw it, because the build works without compiled code, and only starts more slowly.
 */
export async function keepCompiled(outDir: string): Promise<void> {
  try {
    // With the options of this process, which loads TypeScript too.
    const args = [...process.execArgv, PROGRAM, outDir];
    await run(process.execPath, args, { timeout: LIMIT_MS, killSignal: 'SIGKILL' });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    console.error(
      `the build cannot be started here, so each start compiles it anew: ${stderr.trim() || String(error)}`,
    );
  }
}
