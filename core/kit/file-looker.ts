// One child that answers questions about files which may lie on a dead mount. A question that hangs costs the child, which
// is replaced; the others are asked again.
import { type ChildProcess, spawn } from 'node:child_process';
import { publicEnvironment } from './public-environment.ts';

/** `versions`: of each file a text that changes whenever it does, or null. `names`: those in the directory. */
type FileQuestion =
  | { readonly kind: 'versions'; readonly of: readonly string[] }
  | { readonly kind: 'names'; readonly of: readonly [string] };

interface Pending {
  readonly question: FileQuestion;
  readonly timer: NodeJS.Timeout;
  /** Whether a child has ended over it; the next one that does is the last. */
  hasEndedChild: boolean;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

const IDLE_MS = 30_000;
/** A look that hangs takes one of them until the child is replaced. */
const THREADS = 16;
const SCRIPT = `
const { readdir, stat } = require('node:fs/promises')
const version = file => stat(file, { bigint: true }).then(
  entry => [entry.dev, entry.ino, entry.size, entry.mtimeNs].join(':'), () => null)
const looks = {
  versions: files => Promise.all(files.map(version)),
  names: ([directory]) => readdir(directory).catch(() => []),
}
process.on('message', async ({ id, question: { kind, of } }) => process.send({ id, answer: await looks[kind](of) }, () => {}))
// An orderly end would wait for looks that hang.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
`;

export class FileLooker {
  readonly #pending = new Map<number, Pending>();
  #child: ChildProcess | undefined;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;

  /** Rejects with an Error that names the last file when there is no answer within `limitMs`. */
  ask(question: FileQuestion, limitMs: number): Promise<unknown> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      const id = this.#lastId;
      const timer = setTimeout(() => this.#onDeadline(id), limitMs);
      this.#pending.set(id, { question, timer, hasEndedChild: false, resolve, reject });
      this.#send(id, question);
    });
  }

  #send(id: number, question: FileQuestion): void {
    try {
      this.#child ??= this.#start();
      this.#child.send({ id, question }, () => undefined);
    } catch (error) {
      // There is no room for a child at present.
      this.#take(id)?.reject(error as Error);
    }
  }

  #start(): ChildProcess {
    const env = { ...publicEnvironment(process.env), UV_THREADPOOL_SIZE: String(THREADS) };
    const child = spawn(process.execPath, ['-e', SCRIPT], {
      env,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', ({ id, answer }: { id: number; answer: unknown }) => this.#take(id)?.resolve(answer));
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
    // Whoever waits for an answer keeps the host alive by its deadline.
    child.unref();
    child.channel?.unref();
    return child;
  }

  #onDeadline(id: number): void {
    const late = this.#take(id);
    late?.reject(new Error(`${late.question.of.at(-1)} does not answer`));
    const child = this.#child;
    if (child === undefined) return;
    // In an uninterruptible wait it dies when its mount does.
    this.#end(child);
    // Others may be late at the same moment.
    setImmediate(() => {
      for (const [other, { question }] of this.#pending) this.#send(other, question);
    });
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
