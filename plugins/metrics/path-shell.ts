// A shell as a child process, which looks at paths one after the other and costs a megabyte. A process that touches a
// dead mount hangs and cannot be killed, so the child may have to be left behind.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { hasPipes } from '#kit/descriptors';
import { publicEnvironment } from '#kit/public-environment';

const ANSWER_MS = 3_000;

/**
 * Reads lines `<id> <kind> <path>` and answers `<id> <d or f or -> <numbers or -> <real path>`. The numbers are those
 * of stat -f: the size of a block, all blocks, free blocks, free blocks for users other than root, all inodes, free
 * inodes.
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
  /** null when the question was about existence only, or stat -f failed. */
  readonly space: FileSystemNumbers | null;
}

/** The numbers of statfs(2). */
interface FileSystemNumbers {
  readonly blockBytes: number;
  readonly blocks: number;
  readonly freeBlocks: number;
  /** Free blocks without those that are reserved for root. */
  readonly availableBlocks: number;
  readonly inodes: number;
  readonly freeInodes: number;
}

type Shell = ChildProcessByStdio<Writable, Readable, null>;

export class PathShell {
  readonly #child: Shell;
  #lastId = 0;
  #answered: ((line: string) => void) | undefined;
  /** Ends the present question when the child has ended. */
  #lost: (() => void) | undefined;

  private constructor(child: Shell) {
    this.#child = child;
    const gone = (): void => this.#lost?.();
    child.on('error', gone).on('exit', gone);
    child.stdin.on('error', gone);
    createInterface({ input: child.stdout }).on('line', line => this.#answered?.(line));
  }

  /** undefined when there are no descriptors for another child. */
  static start(): PathShell | undefined {
    const child: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT], {
      cwd: '/',
      env: publicEnvironment(process.env),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    if (hasPipes(child)) return new PathShell(child);
    child.on('error', () => undefined);
    return undefined;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Also true for a child that was killed but still hangs in the kernel. */
  get isAlive(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Asks about a path, which is absolute and one line; one question at a time. Gives `lost` when the child has ended
   * meanwhile, which says nothing about the path, and `late` when the path does not answer: the caller then abandons
   * the child.
   */
  look(path: string, kind: 'space' | 'existence'): Promise<PathAnswer | 'late' | 'lost'> {
    this.#lastId += 1;
    const id = String(this.#lastId);
    return new Promise(resolve => {
      const end = (answer: PathAnswer | 'late' | 'lost'): void => {
        clearTimeout(timer);
        this.#answered = undefined;
        this.#lost = undefined;
        resolve(answer);
      };
      const timer = setTimeout(() => end('late'), ANSWER_MS);
      this.#lost = () => end('lost');
      this.#answered = line => {
        const answer = answerOf(line, id, path);
        if (answer !== undefined) end(answer);
      };
      if (this.isAlive) this.#child.stdin.write(`${id} ${kind} ${path}\n`);
      else end('lost');
    });
  }

  /** Kills the child. A child that hangs in the kernel is left behind and ends when the mount does. */
  abandon(): void {
    this.#child.kill('SIGKILL');
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    this.#child.unref();
    this.#lost?.();
  }
}

/** undefined for a line that does not answer this question, such as the second line of a path with a line break. */
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
