// Runs a program in a process group of its own, and with a mark of its own, so that what it has started ends with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { reasonText } from './error-text.ts';
import { endLeftOver, marks } from './left-over.ts';
import { LOOKED_BEYOND, redactedHead } from './redacted-head.ts';
import { sendSignal } from './send-signal.ts';

export interface GroupCommand {
  readonly argv: readonly string[];
  /**
   * Where the program runs; the child enters the directory with its own rights. Default: the root of the file system.
   */
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /**
   * The mark of all processes that the program starts, by which a later host finds them when this one was killed.
   * Default: a new one.
   */
  readonly work?: string;
  /**
   * Whether processes that made sessions of their own, such as services of the machine, stay when the program has ended
   * by itself. Default false. When the program was killed they are ended too, because they may go on with its work.
   */
  readonly mayLeave?: boolean;
  /** The user that the program runs as; null: the host's own. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  readonly limitMs: number;
  /** The niceness of the program, as in nice(1). Default 0. */
  readonly niceness?: number;
  /** Kills the program. */
  readonly signal: AbortSignal;
  /** Takes the lines that the program prints, without colours and secrets; no more is read before it resolves. */
  readonly onLines?: (lines: readonly string[]) => void | Promise<void>;
}

const MAX_LINE = 4_096;
/** How much is kept of a line that has not ended: what is shown and looked at for secrets, and the colours in it. */
const MAX_REST = 4 * (MAX_LINE + LOOKED_BEYOND);
const TOLD_LINES = 3;
const ENTER = 'cd -- "$1" && shift && exec "$@"';
/** How long the rest of the output is read. A process without the mark may hold it open for longer. */
const DRAIN_MS = 2_000;

/** Throws an Error with the last lines of its output when it fails, is cancelled, or takes too long. */
export async function runInGroup(command: GroupCommand): Promise<void> {
  const { argv, limitMs, signal, onLines, work = `command ${randomUUID()}` } = command;
  signal.throwIfAborted();
  const child = launch({ ...command, env: { ...command.env, ...marks(work) } });
  let reason: string | undefined;
  const end = (why?: string): void => {
    reason ??= why;
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
  };
  const cancel = (): void => end('it was cancelled');
  signal.addEventListener('abort', cancel, { once: true });
  const limit = setTimeout(() => end(`it took longer than ${limitMs / 1_000} s`), limitMs);
  // A child that could not be made, because no descriptors were left, has no outputs.
  const outputs = [child.stdout, child.stderr].flatMap(output => output ?? []);
  let told: readonly string[] = [];
  const take = async (lines: readonly string[]): Promise<void> => {
    told = [...told, ...lines].slice(-TOLD_LINES);
    await onLines?.(lines);
  };
  const read = Promise.allSettled(outputs.map(output => readLines(output, take)));
  let drain: NodeJS.Timeout | undefined;
  try {
    const ended = await new Promise<string | number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code, endedBy) => resolve(code ?? endedBy));
    });
    const hasEndedItself = reason === undefined && typeof ended === 'number';
    end();
    // A process that has made a session of its own has left the group.
    if (!hasEndedItself || command.mayLeave !== true) await endLeftOver(work);
    drain = setTimeout(() => cutOff(outputs), DRAIN_MS);
    await read;
    if (ended !== 0) throw new Error(reason ?? (told.join('; ') || `it ended with ${ended}`));
  } catch (error) {
    throw new Error(`${argv.join(' ')} failed: ${reasonText(error)}`, { cause: error });
  } finally {
    clearTimeout(limit);
    clearTimeout(drain);
    signal.removeEventListener('abort', cancel);
    cutOff(outputs);
  }
}

function launch({ argv, cwd, env, user, niceness = 0 }: GroupCommand): ChildProcess {
  // A shell changes the directory: `spawn` would do it before it changes the user, with the rights of the host.
  const [program = '', ...args] = cwd === undefined ? argv : ['/bin/sh', '-c', ENTER, 'sh', cwd, ...argv];
  // The umask of the host hides the host's files, but these are the service's.
  const umask = process.umask(0o022);
  try {
    const child = spawn(program, args, { ...user, cwd: '/', env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    if (child.pid !== undefined && niceness !== 0) setPriority(child.pid, niceness);
    return child;
  } finally {
    process.umask(umask);
  }
}

/**
 * Passes the lines on as they come; each redrawing of a progress bar is a line. Rejects when the output is cut off.
 */
async function readLines(output: Readable, take: (lines: readonly string[]) => Promise<void>): Promise<void> {
  let rest = '';
  const tell = async (texts: readonly string[]): Promise<void> => {
    const lines = texts.map(text => redactedHead(stripVTControlCharacters(text), MAX_LINE).trim());
    const filled = lines.filter(line => line !== '');
    if (filled.length > 0) await take(filled);
  };
  for await (const text of output.setEncoding('utf8')) {
    const texts = `${rest}${text}`.split(/[\r\n]/);
    rest = (texts.pop() ?? '').slice(0, MAX_REST);
    await tell(texts);
  }
  await tell([rest]);
}

function cutOff(outputs: readonly Readable[]): void {
  for (const output of outputs) output.destroy();
}
