// The child processes in which tasks run. A child that is silent for too long is killed, and is abandoned if even that
// does not end it. A child that has answered is used again for a while.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Problem } from '#core';
import { orAborted } from '#kit/abort';
import { helperEnvironment } from '#kit/helper-environment';
import { moduleArguments } from '#kit/worker';
import type { Places } from '../places/path-rules.ts';
import type { FromChild, TaskName, TaskProgress, ToChild } from './task.ts';

const IDLE_MS = 10_000;
const MEMORY_MB = 96;

export interface TaskCall {
  readonly task: TaskName;
  readonly input: unknown;
  /** The id of the job; 32 hexadecimal digits. */
  readonly id: string;
  /** Aborting kills the child at once, or with `stopMs` asks it to end in order first. */
  readonly signal: AbortSignal;
  readonly stopMs?: number;
  /** Whether the task changes links: no other task may do so while its child exists. */
  readonly writes?: boolean;
  readonly report?: (progress: TaskProgress) => void;
  /** Called with the pid of the child before the task begins. */
  readonly began?: (pid: number) => Promise<void>;
}

export interface TaskLimits {
  /** How long a child may be silent. */
  readonly stallMs: number;
  /** How long a question whether the target of a link exists may take. */
  readonly answerMs: number;
}

/** The children of one host. */
export class TaskProcesses {
  readonly #places: Places;
  readonly #limits: TaskLimits;
  readonly #children = new Set<TaskChild>();

  constructor(places: Places, limits: TaskLimits) {
    this.#places = places;
    this.#limits = limits;
  }

  /** Whether an abandoned child of a task that writes still exists. */
  get hasAbandoned(): boolean {
    return this.#abandoned().length > 0;
  }

  /** Resolves when no abandoned child of a task that writes exists any more. */
  async whenGone(signal: AbortSignal): Promise<void> {
    await orAborted(() => Promise.all(this.#abandoned().map(({ gone }) => gone)), signal);
  }

  /**
   * Resolves with the result. Rejects with the Problem of the task, with a Problem 503 of code `stalled` when the child
   * is silent for too long, or with the signal's reason.
   */
  async run(call: TaskCall): Promise<unknown> {
    call.signal.throwIfAborted();
    const idle = [...this.#children].find(child => child.isIdle);
    const child = idle ?? new TaskChild();
    this.#children.add(child);
    void child.gone.then(() => this.#children.delete(child));
    return child.run(call, this.#places, this.#limits);
  }

  /** Kills all children. Those that were asked to end in order have the time for that first. */
  async close(): Promise<void> {
    await Promise.all([...this.#children].map(child => child.close()));
  }

  #abandoned(): TaskChild[] {
    return [...this.#children].filter(child => child.isAbandoned && child.writes);
  }
}

class TaskChild {
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
  isAbandoned = false;
  /** Whether its task, or the last one, changes links. */
  writes = false;
  readonly #process: ChildProcess;
  #receive: ((message: FromChild | 'gone') => void) | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Resolves when the task that was asked to end in order has ended, or its time for that is over. */
  #ending: Promise<unknown> = Promise.resolve();
  #isGone = false;

  constructor() {
    const memory = [`--max-old-space-size=${MEMORY_MB}`, '--max-semi-space-size=4'];
    this.#process = spawn(process.execPath, [...memory, ...moduleArguments('../task-worker', import.meta.url)], {
      cwd: '/',
      env: helperEnvironment(),
      // A process group of its own, because Ctrl-C in a terminal signals the whole group of the host.
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const gone = (): void => {
      this.#isGone = true;
      this.#receive?.('gone');
    };
    this.gone = Promise.race([once(this.#process, 'exit'), once(this.#process, 'error')]).then(gone, gone);
    // Errors after the start, such as a failed kill, are ignored; the end of the process counts.
    this.#process.on('error', () => undefined);
    this.#process.on('message', (message: FromChild) => this.#receive?.(message));
    this.#process.unref();
    this.#process.channel?.unref();
  }

  get isIdle(): boolean {
    return !this.#isGone && !this.isAbandoned && this.#receive === undefined;
  }

  async run(call: TaskCall, places: Places, limits: TaskLimits): Promise<unknown> {
    const { task, input, id } = call;
    this.writes = call.writes ?? false;
    clearTimeout(this.#idle);
    const { outcome, end } = this.#outcomeOf(call, limits.stallMs);
    try {
      const { pid } = this.#process;
      if (pid !== undefined) await Promise.race([call.began?.(pid), outcome]);
      this.#send({ kind: 'run', task, input, id, places, answerMs: limits.answerMs });
      return await outcome;
    } finally {
      end();
      this.#receive = undefined;
      this.#idle = setTimeout(() => this.abandon(), IDLE_MS).unref();
    }
  }

  /** The outcome of a call that the child is about to get. `end` ends the watch over it. */
  #outcomeOf(
    { task, signal, report, stopMs = 0 }: TaskCall,
    stallMs: number,
  ): { readonly outcome: Promise<unknown>; readonly end: () => void } {
    let resolve: (result: unknown) => void = () => undefined;
    let reject: (reason: unknown) => void = () => undefined;
    const outcome = new Promise<unknown>((onResult, onFailure) => {
      resolve = onResult;
      reject = onFailure;
    });
    const giveUp = (reason: unknown): void => {
      this.abandon();
      reject(reason);
    };
    const waitForSign = () => setTimeout(() => giveUp(stalled(stallMs)), stallMs);
    let stall = waitForSign();
    let stop: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      if (stopMs > 0) {
        this.#send({ kind: 'stop' });
        stop = setTimeout(() => giveUp(signal.reason), stopMs);
        this.#ending = outcome.catch(() => undefined);
      } else giveUp(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#receive = message => {
      clearTimeout(stall);
      stall = waitForSign();
      if (message === 'gone') reject(new Error(`the process of ${task} has ended`));
      else if (message.kind === 'progress') report?.(message.progress);
      else if (message.kind !== 'alive') {
        if (message.isUsedUp) this.abandon();
        if (message.kind === 'result') resolve(message.result);
        else reject(new Problem(message.failure.status, message.failure.message, { code: message.failure.code }));
      }
    };
    const end = (): void => {
      clearTimeout(stall);
      clearTimeout(stop);
      signal.removeEventListener('abort', onAbort);
    };
    return { outcome, end };
  }

  async close(): Promise<void> {
    await this.#ending;
    this.abandon();
  }

  /** Kills the child. A child that hangs in the kernel ends when its mount does. */
  abandon(): void {
    clearTimeout(this.#idle);
    this.isAbandoned = true;
    this.#process.kill('SIGKILL');
    if (this.#process.connected) this.#process.disconnect();
  }

  /** Sends a message. A failure is ignored, because the end of the process is noticed anyway. */
  #send(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }
}

function stalled(ms: number): Problem {
  const detail = `The file system has not answered for ${ms / 1_000} s; see to the mounts of the roots and their targets, then try again.`;
  return new Problem(503, detail, { code: 'stalled' });
}
