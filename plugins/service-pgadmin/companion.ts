// A program that runs beside a service. It belongs to the run of the service: it ends with it and writes to its log. It
// is not supervised: if it ends by itself, it is started again only with the service.
import { type ChildProcess, spawn } from 'node:child_process';
import { type Host, Problem } from '#core';
import type { LaunchPlan, RunShare } from '../process/contract.ts';

export interface CompanionLaunch {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly user: LaunchPlan['user'];
}

/** Signals by which the host ends the program together with its service. */
const HOST_SIGNALS: readonly (string | null)[] = ['SIGTERM', 'SIGKILL'];

export class Companion {
  readonly #host: Host;
  readonly #name: string;

  constructor(host: Host, name: string) {
    this.#host = host;
    this.#name = name;
  }

  /**
   * Starts the program, unless its service is being stopped meanwhile; a program that is not installed is only logged.
   */
  async start({ command: [program = '', ...args], env, user }: CompanionLaunch, run: RunShare): Promise<void> {
    const output = await run.openOutput().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      this.#host.log.info(`${this.#name} is not run: ${error.message}`);
    });
    if (output === undefined) return;
    try {
      const stdio = ['ignore', output.fd, output.fd] as const;
      this.#follow(spawn(program, args, { ...user, env: { ...env, ...run.variables }, cwd: '/', stdio: [...stdio] }));
    } finally {
      await output.close();
    }
  }

  #follow(child: ChildProcess): void {
    const { log } = this.#host;
    child.on('spawn', () => log.info(`${this.#name} runs`));
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') log.info(`${this.#name} is not installed, so planned jobs are not run`);
      else log.warn(`${this.#name} cannot be run`, error);
    });
    child.on('exit', (code, signal) => {
      if (!HOST_SIGNALS.includes(signal))
        log.warn(`${this.#name} ended with ${code ?? signal}; the log of its service says why`);
    });
  }
}
