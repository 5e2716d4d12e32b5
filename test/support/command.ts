// Runs a command of the command line to its end, against a running host.
import { spawnStackwarden } from './stackwarden.ts';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandPlace {
  readonly configDir: string;
  readonly base: string;
  readonly env?: Record<string, string>;
}

/** Without `env`, the login of the person who runs the tests is not used. */
export async function runCommand({ configDir, base, env }: CommandPlace, ...args: string[]): Promise<CommandResult> {
  const run = spawnStackwarden(configDir, {
    args: ['--url', base, ...args],
    env: { STACKWARDEN_TOKEN: '', XDG_CONFIG_HOME: `${configDir}/home`, ...env },
  });
  const { code } = await run.exited;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}
