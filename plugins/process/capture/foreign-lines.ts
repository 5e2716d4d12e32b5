// Lines of another program for the logs of a process, such as those of a build of its program. While the disk of its
// log is full, they wait in a spool like the lines of a run that has ended.
import { RotatingFile } from '#kit/rotating-file';
import type { CaptureSession } from './capture-session.ts';
import { LogBlock } from './log-block.ts';
import { toLines } from './output-lines.ts';
import type { CaptureTarget, SessionOptions } from './session-options.ts';

/** How lines can wait for room in the log. */
interface Waiting {
  /** Whether lines of the process wait for room in the same log. */
  hasEarlier(): boolean;
  open(spoolFile: string): Promise<CaptureSession>;
}

export class ForeignLines {
  readonly target: CaptureTarget;
  readonly #options: SessionOptions;
  readonly #waiting: Waiting | undefined;
  #file: RotatingFile | null;
  /** Reads the lines that wait. */
  #session: CaptureSession | undefined;
  /** The latest writing; it never rejects. */
  #last: Promise<void> = Promise.resolve();

  /** Without `waiting`, lines that the disk does not take are dropped and counted. */
  constructor(target: CaptureTarget, options: SessionOptions, waiting?: Waiting) {
    this.target = target;
    this.#options = options;
    this.#waiting = waiting;
    this.#file = this.#open();
  }

  #open(): RotatingFile | null {
    const { logFile: file, owner } = this.target;
    const { rotation, log } = this.#options;
    const warn = (message: string, error?: unknown): void => log.warn(message, error);
    return file === null ? null : new RotatingFile({ file, rotation, owner, warn });
  }

  /** Resolves when the lines are written, wait in a spool, which may get that name, or are counted as dropped. */
  write(texts: readonly string[], spoolFile: string): Promise<void> {
    const written = this.#last.then(() => this.#write(texts, spoolFile));
    this.#last = written.catch(() => undefined);
    return written;
  }

  async #write(texts: readonly string[], spoolFile: string): Promise<void> {
    const { processName, logLevel, suppressed } = this.target;
    const { deliver, ownLevel } = this.#options;
    const bytes = Buffer.from(texts.map(text => `${text}\n`).join(''));
    const lines = toLines(bytes);
    const at = Date.now();
    if (!suppressed) await deliver(new LogBlock().format(lines, at, processName, ownLevel()));
    const file = this.#file;
    if (file === null) return;
    const { block } = new LogBlock().format(lines, at, processName, logLevel);
    const waiting = this.#waiting;
    const mustWait = waiting?.hasEarlier() === true;
    if (!mustWait && (await append(file, block, { mayDrop: waiting === undefined }))) return;
    const isWaiting = await this.#wait(bytes, () => waiting?.open(spoolFile)).catch(() => false);
    // The session tells when the log is written again, and another file has no fault to tell the end of.
    if (isWaiting) this.#file = this.#open();
    // When the disk of the spools takes nothing either, the log tells how much was dropped.
    else await append(file, block, { mayDrop: true });
  }

  /** Has the lines wait behind earlier ones; false when they cannot. */
  async #wait(bytes: Buffer, open: () => Promise<CaptureSession> | undefined): Promise<boolean> {
    if (this.#session?.add(bytes) === true) return true;
    this.#session = await open();
    try {
      return this.#session?.add(bytes) === true;
    } finally {
      await this.#session?.finish();
    }
  }
}

/** The same as its `write`; closes the file afterwards, because lines come seldom. */
function append(file: RotatingFile, block: Uint8Array, options: { readonly mayDrop: boolean }): Promise<boolean> {
  return file.write(block, options).finally(() => file.close());
}
