// Looks at paths from a child that can be abandoned, because whoever touches a dead mount hangs unkillably. The child is
// a shell, which costs a megabyte, and answers one path after the other.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { publicEnvironment } from '#kit/public-environment';
import { turnWithTime } from '#kit/turns';

const ANSWER_MS = 3_000;
/** A path that did not answer is not asked for again before this time has passed. */
const STALLED_MS = 60_000;

/**
 * Reads lines `<id> <kind> <path>` and answers `<id> <d or f or -> <numbers or -> <real path>`. The numbers are those of
 * stat -f: size of a block, blocks in all, free, and free for everybody, then inodes in all and free.
 */
const SCRIPT = `
while IFS= read -r line; do
  path=/\${line#*/}
  set -- \${line%%/*}
  what=d numbers=-
  if cd -P "$path" 2>/dev/null; then real=$PWD; cd /
  elif [ -e "$path" ]; then what=f real=$path
  else printf '%s - - /\\n' "$1"; continue
  fi
  if [ "$2" = space ]; then numbers=$(stat -f -c %S,%b,%f,%a,%c,%d -- "$real" 2>/dev/null) || numbers=-; fi
  printf '%s %s %s %s\\n' "$1" "$what" "$numbers" "$real"
done
`;

export interface PathAnswer {
  readonly exists: boolean;
  readonly isDirectory: boolean;
  /** The path without links; the path itself when it does not exist. */
  readonly real: string;
  /** null when it was not asked for, or the file system does not tell. */
  readonly space: FileSystemNumbers | null;
}

/** Of statfs(2); blocks are in bytes. */
interface FileSystemNumbers {
  readonly blockBytes: number;
  readonly blocks: number;
  readonly freeBlocks: number;
  /** Without what is reserved for root. */
  readonly availableBlocks: number;
  readonly inodes: number;
  readonly freeInodes: number;
}

type Shell = ChildProcessByStdio<Writable, Readable, null>;

export class PathProbe {
  readonly #stalledSince = new Map<string, number>();
  #shell: Shell | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #lastId = 0;
  #answered: ((line: string) => void) | undefined;
  /** Ends the present question when its child has ended, which says nothing about the path. */
  #lost: (() => void) | undefined;
  #closed = false;

  /** The pid of the child, for whoever lists processes. */
  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /** null when the path does not answer. The path is absolute and one line. Calls are answered one after the other. */
  look(path: string, kind: 'space' | 'existence'): Promise<PathAnswer | null> {
    // To start a child holds the event loop for some milliseconds.
    const ready = this.#queue.then(() => (this.#shell === undefined ? turnWithTime() : undefined));
    const answer = ready.then(() => this.#ask(path, kind));
    this.#queue = answer.catch(() => undefined);
    return answer;
  }

  close(): void {
    this.#closed = true;
    this.#abandon();
  }

  #ask(path: string, kind: string): Promise<PathAnswer | null> {
    const since = this.#stalledSince.get(path);
    if (this.#closed || (since !== undefined && performance.now() - since < STALLED_MS)) return Promise.resolve(null);
    this.#lastId += 1;
    const id = String(this.#lastId);
    const shell = this.#shell ?? this.#start();
    return new Promise(resolve => {
      const end = (answer: PathAnswer | null): void => {
        clearTimeout(timer);
        this.#answered = undefined;
        this.#lost = undefined;
        if (answer !== null) this.#stalledSince.delete(path);
        resolve(answer);
      };
      const timer = setTimeout(() => {
        this.#abandon();
        this.#stalledSince.set(path, performance.now());
        end(null);
      }, ANSWER_MS);
      this.#lost = () => end(null);
      this.#answered = line => {
        const answer = answerOf(line, id, path);
        if (answer !== undefined) end(answer);
      };
      if (shell === undefined) end(null);
      else shell.stdin.write(`${id} ${kind} ${path}\n`);
    });
  }

  /** undefined when there are no descriptors for another child. */
  #start(): Shell | undefined {
    const shell: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT], {
      cwd: '/',
      env: publicEnvironment(process.env),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const gone = (): void => {
      if (this.#shell !== shell) return;
      this.#shell = undefined;
      this.#lost?.();
    };
    shell.on('error', gone).on('exit', gone);
    if (!isWhole(shell)) return undefined;
    this.#shell = shell;
    shell.stdin.on('error', gone);
    createInterface({ input: shell.stdout }).on('line', line => this.#answered?.(line));
    return shell;
  }

  /** A child that hangs in the kernel is left behind; it ends when the mount does. */
  #abandon(): void {
    const shell = this.#shell;
    this.#shell = undefined;
    if (shell === undefined) return;
    shell.kill('SIGKILL');
    shell.stdin.destroy();
    shell.stdout.destroy();
    shell.unref();
  }
}

/** A child for which there were no descriptors has no streams. */
function isWhole(child: ChildProcess): child is Shell {
  return (child.stdin ?? null) !== null && (child.stdout ?? null) !== null;
}

/** undefined for a line that does not answer this question, as the second line of a path that has a line break in it. */
function answerOf(line: string, id: string, path: string): PathAnswer | undefined {
  const found = /^(\d+) ([df-]) (\S+) (\/.*)$/.exec(line);
  if (found === null || found[1] !== id) return undefined;
  const [, , what, numbers = '', real = path] = found;
  if (what === '-') return { exists: false, isDirectory: false, real: path, space: null };
  return { exists: true, isDirectory: what === 'd', real, space: numbersOf(numbers) };
}

function numbersOf(text: string): FileSystemNumbers | null {
  const [blockBytes, blocks, freeBlocks, availableBlocks, inodes, freeInodes] = text.split(',').map(Number);
  if (blockBytes === undefined || blocks === undefined || freeBlocks === undefined) return null;
  if (availableBlocks === undefined || inodes === undefined || freeInodes === undefined) return null;
  return { blockBytes, blocks, freeBlocks, availableBlocks, inodes, freeInodes };
}
