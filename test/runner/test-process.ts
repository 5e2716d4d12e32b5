// The process in which a lane runs test files one after the other. It is replaced after many files, when it has grown,
// and after it has ended.
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
 * How many bytes of bytecode run before V8 considers optimising a function. Most functions of a test end before that
 * pays. Releases of Node after 20 do not know the option.
 */
const OPTIMISE_AFTER = process.versions.node.startsWith('20.') ? ['--interrupt-budget=600000'] : [];
/**
 * Semi-space sizes in MiB, for every thread, whatever its memory limit. Nearly all objects soon become garbage, and a
 * small semi-space would copy many of them first.
 */
const ROOM_FOR_NEW = ['--min-semi-space-size=16', '--max-semi-space-size=32'];
const MAX_FILES = 60;
const MAX_RESIDENT_BYTES = 512 * 2 ** 20;
/**
 * tap itself ends a late file and names what it waits for. This is the time after which a file is killed that blocks
 * tap.
 */
const ENDING_MS = 20_000;
const LAST_WORDS_MS = 200;

/** How a file ended. */
interface Ending {
  /** The exit code or signal of the process; null when it still runs. */
  readonly exit: number | string | null;
  readonly open: readonly string[];
  /** What the process wrote to standard error. */
  readonly errors: string;
  /** Processor time of the file and its programs, except programs that it did not wait for. */
  readonly cpuSeconds: number;
}

export class TestProcess {
  readonly #env: Readonly<Record<string, string>>;
  readonly #options: readonly string[];
  #child: ChildProcess | undefined;
  #files = 0;
  #residentBytes = 0;
  #errors = '';

  /**
   * `env` is the environment for all files. The process of a single file lacks the options that make many files faster.
   */
  constructor(env: Readonly<Record<string, string>>, { isAlone = false }: { readonly isAlone?: boolean } = {}) {
    this.#env = env;
    this.#options = isAlone ? [] : [...OPTIMISE_AFTER, ...ROOM_FOR_NEW];
  }

  /** Rejects for nothing that the file does. `signal` kills the process. */
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
    // A process that the file has left behind may keep this pipe open.
    await Promise.race([child.stderr === null || once(child.stderr, 'close'), delay(LAST_WORDS_MS)]);
    await this.end();
    return { exit: child.exitCode ?? child.signalCode, open: [], errors: this.#errors, cpuSeconds: 0 };
  }

  /** Ends the process; the next file starts a new one. */
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

/** Resolves with undefined when the process ends with the file. */
async function endingOf(child: ChildProcess): Promise<FileEnding | undefined> {
  for await (const [message] of on(child, 'message', { close: ['exit'] })) {
    // tap sends messages of its own to a parent process.
    if (Object.hasOwn(message, 'open')) return message;
  }
  return undefined;
}
