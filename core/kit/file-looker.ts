// One child that answers questions about files which may lie on a dead mount. A child that hangs over a question is
// replaced, and the other questions are asked again; questions about the file it hangs over fail until that child is
// gone.
import { type ChildProcess, spawn } from 'node:child_process';
import { helperEnvironment } from './helper-environment.ts';

/**
 * `version` asks for a text for each file that changes whenever the file does, or null; `names` for the names in each
 * directory.
 */
interface FileQuestion {
  readonly kind: 'version' | 'names';
  readonly of: readonly string[];
}

interface Pending {
  readonly question: FileQuestion;
  /** By the index of the file in the question. */
  readonly answers: Map<number, unknown>;
  readonly timer: NodeJS.Timeout;
  /** Whether a child has ended during the question, which is asked again only once. */
  hasEndedChild: boolean;
  resolve(answers: unknown[]): void;
  reject(error: Error): void;
}

const IDLE_MS = 30_000;
/** The threads of the child. A call that hangs keeps one of them until the child is replaced. */
const THREADS = 16;
/** The most children that may hang unkillably before every question is refused. */
const MAX_STUCK = 32;
const SCRIPT = `
const { readdir, stat } = require('node:fs/promises')
const looks = {
  version: file => stat(file, { bigint: true }).then(
    entry => [entry.dev, entry.ino, entry.size, entry.mtimeNs].join(':'), () => null),
  names: directory => readdir(directory).catch(() => []),
}
process.on('message', ({ id, question: { kind, of } }) => of.forEach(async (file, index) => {
  process.send({ id, index, answer: await looks[kind](file) }, () => {})
}))
// An orderly end would wait for looks that hang.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
`;

interface Answer {
  readonly id: number;
  readonly index: number;
  readonly answer: unknown;
}

export class FileLooker {
  readonly #pending = new Map<number, Pending>();
  /** For each child that was killed and is not gone, the files that it hangs over. */
  readonly #stuck = new Map<ChildProcess, Set<string>>();
  #child: ChildProcess | undefined;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;

  /**
   * An answer for each file. Rejects with an Error that names a file without an answer within `limitMs`, and at once
   * while a child hangs over one of the files.
   */
  ask(question: FileQuestion, limitMs: number): Promise<unknown[]> {
    const silent = question.of.find(file => this.#hangs(file));
    if (silent !== undefined) return Promise.reject(noAnswer(silent));
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      const id = this.#lastId;
      const timer = setTimeout(() => this.#onDeadline(id), limitMs);
      this.#pending.set(id, { question, answers: new Map(), timer, hasEndedChild: false, resolve, reject });
      this.#send(id, question);
    });
  }

  #send(id: number, question: FileQuestion): void {
    try {
      this.#child ??= this.#start();
      this.#child.send({ id, question }, () => undefined);
    } catch (error) {
      // No child can be started at present.
      this.#take(id)?.reject(error as Error);
    }
  }

  #start(): ChildProcess {
    const env = { ...helperEnvironment(), UV_THREADPOOL_SIZE: String(THREADS) };
    const child = spawn(process.execPath, ['-e', SCRIPT], {
      env,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', (answer: Answer) => this.#onAnswer(answer));
    const onEnd = (error: Error, mayRepeat: boolean): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      for (const [id, pending] of [...this.#pending]) {
        if (!mayRepeat || pending.hasEndedChild) this.#take(id)?.reject(error);
        else {
          pending.hasEndedChild = true;
          this.#send(id, pending.question);
        }
      }
    };
    child.on('error', error => onEnd(error, false));
    child.on('exit', () => onEnd(new Error('the look at files was ended'), true));
    // While an answer is awaited, the timer of its deadline keeps the host alive.
    child.unref();
    child.channel?.unref();
    return child;
  }

  #onAnswer({ id, index, answer }: Answer): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const { question, answers } = pending;
    answers.set(index, answer);
    if (answers.size < question.of.length) return;
    this.#take(id)?.resolve(question.of.map((_, at) => answers.get(at)));
  }

  #onDeadline(id: number): void {
    const late = this.#take(id);
    if (late === undefined) return;
    const silent = late.question.of.filter((_, index) => !late.answers.has(index));
    late.reject(noAnswer(silent[0] ?? ''));
    const child = this.#child;
    if (child === undefined) return;
    // A child in an uninterruptible wait dies only when its mount is gone.
    this.#stuck.set(child, new Set(silent));
    child.once('exit', () => this.#stuck.delete(child));
    this.#end(child);
    // Other questions may miss their deadlines at the same moment, so the rest are asked again after them.
    setImmediate(() => {
      for (const [other, { question }] of this.#pending) this.#send(other, question);
    });
  }

  #hangs(file: string): boolean {
    return this.#stuck.size >= MAX_STUCK || [...this.#stuck.values()].some(files => files.has(file));
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    clearTimeout(pending.timer);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#idle = setTimeout(() => this.#child && this.#end(this.#child), IDLE_MS).unref();
    return pending;
  }

  #end(child: ChildProcess): void {
    this.#child = undefined;
    child.removeAllListeners('message');
    child.kill('SIGKILL');
    if (child.connected) child.disconnect();
  }
}

function noAnswer(file: string): Error {
  return new Error(`${file} does not answer`);
}
