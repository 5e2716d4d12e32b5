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

  close(): void {
    for (const child of this.#children) child.abandon();
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
  #isGone = false;

  constructor() {
    const memory = [`--max-old-space-size=${MEMORY_MB}`, '--max-semi-space-size=4'];
    this.#process = spawn(process.execPath, [...memory, ...moduleArguments('../task-worker', import.meta.url)], {
      cwd: '/',
      env: helperEnvironment(),
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

  async run(call: TaskCall, places: Places, { stallMs, answerMs }: TaskLimits): Promise<unknown> {
    const { task, input, id, signal, report, began, stopMs = 0 } = call;
    this.writes = call.writes ?? false;
    clearTimeout(this.#idle);
    let stall: NodeJS.Timeout | undefined;
    let stop: NodeJS.Timeout | undefined;
    let onAbort: (() => void) | undefined;
    const outcome = new Promise<unknown>((resolve, reject) => {
      const giveUp = (reason: unknown): void => {
        this.abandon();
        reject(reason);
      };
      const listen = (): void => {
        clearTimeout(stall);
        stall = setTimeout(() => giveUp(stalled(stallMs)), stallMs);
      };
      listen();
      onAbort = () => {
        if (stopMs === 0) return giveUp(signal.reason);
        this.#send({ kind: 'stop' });
        stop = setTimeout(() => giveUp(signal.reason), stopMs);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#receive = message => {
        listen();
        if (message === 'gone') return reject(new Error(`the process of ${task} has ended`));
        if (message.kind === 'progress') report?.(message.progress);
        if (message.kind === 'alive' || message.kind === 'progress') return;
        if (message.isUsedUp) this.abandon();
        if (message.kind === 'result') resolve(message.result);
        else reject(new Problem(message.failure.status, message.failure.message, { code: message.failure.code }));
      };
    });
    try {
      const { pid } = this.#process;
      if (pid !== undefined) await Promise.race([began?.(pid), outcome]);
      this.#send({ kind: 'run', task, input, id, places, answerMs });
      return await outcome;
    } finally {
      clearTimeout(stall);
      clearTimeout(stop);
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
      this.#receive = undefined;
      this.#idle = setTimeout(() => this.abandon(), IDLE_MS).unref();
    }
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
