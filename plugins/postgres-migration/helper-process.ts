// The process of a helper instance, in a group of its own. It is recorded before it runs, so that the next host can end
// it if this one dies.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { hasPipes } from '#kit/descriptors';
import { redact } from '#kit/redact';
import type { Owner } from './places.ts';

const STOP_MS = 30_000;
const POLL_MS = 50;
const MAX_LINE = 2_000;
const NOT_STARTED = 'the helper instance could not be started';
/**
 * Waits for a line before it runs the program. If the host dies before it sends one, the input closes and the shell
 * ends.
 */
const GATE = 'read -r _ && exec "$@" </dev/null';

export interface HelperIdentity {
  readonly pid: number;
  /** Clock ticks after boot. With the pid it names one process until the next boot. */
  readonly startTime: number;
  readonly bootId: string;
}

export interface HelperCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: Owner;
  /** Texts to mask in the last line of its output. */
  readonly secrets: readonly string[];
}

export class HelperProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #secrets: readonly string[];
  readonly #exited: Promise<void>;
  #lastLine = '';
  #end: string | undefined;
  #hasSucceeded = false;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>, secrets: readonly string[]) {
    this.#child = child;
    this.#secrets = secrets;
    child.stdin.on('error', () => undefined);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const line = text.split(/\r?\n/).findLast(part => part.trim() !== '');
      if (line !== undefined) this.#lastLine = line.slice(0, MAX_LINE);
    });
    this.#exited = new Promise(resolve => {
      child.once('error', error => {
        this.#end = error.message;
        resolve();
      });
      child.once('exit', (code, signal) => {
        this.#hasSucceeded = code === 0;
        this.#end = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
        resolve();
      });
    });
  }

  /** `recorded` is awaited before the program begins. */
  static async start(
    { argv, cwd, env, user, secrets }: HelperCommand,
    recorded: (identity: HelperIdentity) => Promise<void>,
  ): Promise<HelperProcess> {
    const child: ChildProcess = spawn('/bin/sh', ['-c', `${GATE} 2>&1`, 'helper', ...argv], {
      ...user,
      cwd,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    if (!hasPipes(child)) {
      const [cause] = await once(child, 'error');
      throw new Error(NOT_STARTED, { cause });
    }
    const helper = new HelperProcess(child, secrets);
    try {
      const startTime = child.pid === undefined ? null : await startTimeOf(child.pid);
      if (child.pid === undefined || startTime === null) throw new Error(NOT_STARTED);
      await recorded({ pid: child.pid, startTime, bootId: await currentBoot() });
    } catch (error) {
      await helper.stop();
      throw error;
    }
    child.stdin.end('\n');
    return helper;
  }

  /** How the helper ended, with the last line of its output; undefined while it runs. */
  get end(): string | undefined {
    if (this.#end === undefined) return undefined;
    const words = this.#secrets.reduce((text, secret) => text.replaceAll(secret, '********'), this.#lastLine);
    return words === '' ? this.#end : `${this.#end}: ${redact(words)}`;
  }

  /** Whether it has ended with code 0. */
  get hasSucceeded(): boolean {
    return this.#hasSucceeded;
  }

  /** Asks the helper to end, and kills its whole group in any case. */
  async stop(): Promise<void> {
    if (this.#end === undefined) this.#signal('SIGTERM');
    const limit = new AbortController();
    const late = delay(STOP_MS, undefined, { signal: limit.signal }).catch(() => undefined);
    await Promise.race([this.#exited, late]);
    limit.abort();
    this.#signal('SIGKILL');
    this.#child.stdout.destroy();
    await this.#exited;
  }

  #signal(name: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) signalGroup(this.#child.pid, name);
  }
}

/**
 * Kills a helper instance that an earlier host has left behind, with its whole group. The identity belongs to no other
 * process. Rejects when the helper does not end, as when it hangs in the kernel.
 */
export async function killLeftHelper({ pid, startTime, bootId }: HelperIdentity): Promise<void> {
  if (bootId !== (await currentBoot()) || (await startTimeOf(pid)) !== startTime) return;
  signalGroup(pid, 'SIGKILL');
  for (const untilMs = performance.now() + STOP_MS; (await startTimeOf(pid)) === startTime; await delay(POLL_MS))
    if (performance.now() > untilMs) throw new Error(`the helper instance ${pid} of an earlier migration does not end`);
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch {
    // No process of the group is left.
  }
}

async function currentBoot(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/** null when there is no such process, or only a zombie. */
async function startTimeOf(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  // The command in parentheses may itself hold parentheses and spaces.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  return fields.length === 0 || fields[0] === 'Z' ? null : Number(fields[19]);
}
