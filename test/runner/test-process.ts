// The process of a lane that runs test files one after the other; it is replaced when it has run many, has grown, or
// ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processorSeconds } from './processor-time.ts';
import type { FileEnding, FileOrder } from './shared-process.ts';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const preload = fileURLToPath(new URL('./preload.mjs', import.meta.url));
const script = fileURLToPath(new URL('./shared-process.ts', import.meta.url));
/**
 * How many bytes of code run until V8 looks at what to compile anew. Most of what a test runs is over before that pays.
 * Releases of Node after 20 do not know the option.
 */
const OPTIMISE_AFTER = process.versions.node.startsWith('20.') ? ['--interrupt-budget=600000'] : [];
/**
 * MiB for what is new, of every thread, whatever limit it has. Nearly all of it is garbage soon, and what a small space
 * is full of is copied twice before.
 */
const ROOM_FOR_NEW = ['--min-semi-space-size=16', '--max-semi-space-size=32'];
const MAX_FILES = 60;
const MAX_RESIDENT_BYTES = 512 * 2 ** 20;
/** tap ends a file that is late by itself, with the names of what it waits for; this is for one that cannot. */
const ENDING_MS = 20_000;
const LAST_WORDS_MS = 200;

/** How a file ended. */
interface Ending {
  /** The exit code or signal of the process; null where it lives. */
  readonly exit: number | string | null;
  readonly open: readonly string[];
  /** What was written to standard error. */
  readonly errors: string;
  /** Processor time of the file with its programs; without those that became somebody else's. */
  readonly cpuSeconds: number;
}

export class TestProcess {
  readonly #env: Readonly<Record<string, string>>;
  readonly #options: readonly string[];
  #child: ChildProcess | undefined;
  #files = 0;
  #residentBytes = 0;
  #errors = '';

  /** `env` is what all its files have in their environment. One for a single file has no options that make many fast. */
  constructor(env: Readonly<Record<string, string>>, { isAlone = false }: { readonly isAlone?: boolean } = {}) {
    this.#env = env;
    this.#options = isAlone ? [] : [...OPTIMISE_AFTER, ...ROOM_FOR_NEW];
  }

  /** Never rejects for what the file does. `signal` ends the process. */
  async run(order: FileOrder, signal: AbortSignal): Promise<Ending> {
    if (this.#files >= MAX_FILES || this.#residentBytes > MAX_RESIDENT_BYTES) await this.end();
    this.#child ??= this.#start();
    const child = this.#child;
    this.#files += 1;
    this.#errors = '';
    const usedBefore = await processorSeconds(child.pid);
    const stop = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', stop, { once: true });
    const late = setTimeout(stop, order.limitMs + ENDING_MS);
    child.send(order);
    const ending = await endingOf(child);
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
    if (ending !== undefined) {
      this.#residentBytes = ending.residentBytes;
      const cpuSeconds = (await processorSeconds(child.pid)) - usedBefore;
      return { exit: null, open: ending.open, errors: this.#errors, cpuSeconds };
    }
    // What is left behind may hold this pipe open, too.
    await Promise.race([child.stderr === null || once(child.stderr, 'close'), delay(LAST_WORDS_MS)]);
    await this.end();
    return { exit: child.exitCode ?? child.signalCode, open: [], errors: this.#errors, cpuSeconds: 0 };
  }

  /** The next file begins in a new one. */
  async end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#files = 0;
    this.#residentBytes = 0;
    if (child?.exitCode === null && child.signalCode === null) {
      const late = setTimeout(() => child.kill('SIGKILL'), ENDING_MS);
      child.disconnect();
      await once(child, 'exit');
      clearTimeout(late);
    }
    child?.stderr?.destroy();
  }

  #start(): ChildProcess {
    const args = [...this.#options, '--enable-source-maps', `--import=${preload}`, script];
    const child = spawn(process.execPath, args, {
      cwd: rootDir,
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
      process.stderr.write(text);
    });
    return child;
  }
}

/** Undefined when the process ends with the file. */
async function endingOf(child: ChildProcess): Promise<FileEnding | undefined> {
  for await (const [message] of on(child, 'message', { close: ['exit'] })) {
    // tap has something to say to runners, too.
    if (Object.hasOwn(message, 'open')) return message;
  }
  return undefined;
}
