// A program that runs beside a service and ends with it. It is not supervised: one that ends by itself is started again
// with the service.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Host } from '#core';
import type { LaunchPlan } from '../process/contract.ts';

export interface CompanionLaunch {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly user: LaunchPlan['user'];
}

const GRACE_MS = 3_000;
const LAST_CHARACTERS = 1_000;

export class Companion {
  readonly #host: Host;
  readonly #name: string;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(host: Host, name: string) {
    this.#host = host;
    this.#name = name;
  }

  /** Nothing happens while it runs. A machine without the program does without it. */
  start({ command: [program = '', ...args], env, user }: CompanionLaunch): void {
    if (this.#child !== undefined) return;
    const { log } = this.#host;
    const child = spawn(program, args, { ...user, env, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-LAST_CHARACTERS);
    });
    child.on('spawn', () => log.info(`${this.#name} runs`));
    this.#ended = new Promise(resolve => {
      const end = (tell: () => void): void => {
        if (this.#child === child) {
          this.#child = undefined;
          tell();
        }
        resolve();
      };
      child.on('error', (error: NodeJS.ErrnoException) =>
        end(() => {
          if (error.code === 'ENOENT') log.info(`${this.#name} is not installed, so planned jobs are not run`);
          else log.warn(`${this.#name} cannot be run`, error);
        }),
      );
      child.on('close', code => end(() => log.warn(`${this.#name} ended with ${code}: ${words.trim()}`)));
    });
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    child.kill('SIGTERM');
    const limit = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
    await this.#ended;
    clearTimeout(limit);
  }
}
