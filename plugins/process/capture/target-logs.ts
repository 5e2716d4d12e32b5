// The files that take the lines of one process: the service's log, and one for the access lines of a proxy.
import { deepEqual } from '#kit/deep-equal';
import { RotatingFile } from '#kit/rotating-file';
import { OutputLines } from './output-lines.ts';
import type { CaptureTarget, SessionOptions } from './session-options.ts';

/** Matches access lines of a proxy: JSON objects with their fields, or the common log format. */
const ACCESS_LINE = /^(?:\{.*"RequestMethod":|\S+ \S+ \S+ \[[^\]]+\] "[A-Z]+ )/;

const NOTHING = Buffer.alloc(0);

export class TargetLogs {
  readonly #options: Pick<SessionOptions, 'rotation' | 'log'>;
  #target: CaptureTarget;
  #log: RotatingFile | null;
  #accessLog: RotatingFile | null;

  constructor(target: CaptureTarget, options: Pick<SessionOptions, 'rotation' | 'log'>) {
    this.#options = options;
    this.#target = target;
    this.#log = this.#open(target.logFile);
    this.#accessLog = this.#open(target.accessLogFile);
  }

  /** The service's own log; null when the host does not write it. */
  get log(): RotatingFile | null {
    return this.#log;
  }

  /**
   * Changes to the files of another target in one step, because lines that are read while their log is being closed
   * would be lost. Resolves when files that the new target does not share are closed.
   */
  async follow(target: CaptureTarget): Promise<void> {
    const before = this.#target;
    this.#target = target;
    const isOthers = !deepEqual(target.owner, before.owner);
    const old: (RotatingFile | null)[] = [];
    if (isOthers || target.logFile !== before.logFile) {
      old.push(this.#log);
      this.#log = this.#open(target.logFile);
    }
    if (isOthers || target.accessLogFile !== before.accessLogFile) {
      old.push(this.#accessLog);
      this.#accessLog = this.#open(target.accessLogFile);
    }
    await Promise.all(old.map(log => log?.close()));
  }

  /** Tells the access lines, as their log holds them, from the others. */
  split(lines: OutputLines): { readonly access: Uint8Array; readonly others: OutputLines } {
    if (this.#accessLog === null) return { access: NOTHING, others: lines };
    const others = new OutputLines(lines.bytes);
    let access = '';
    for (const { level, text } of lines) {
      if (ACCESS_LINE.test(text)) access += `${text}\n`;
      else others.addText(level, text);
    }
    return { access: Buffer.from(access), others };
  }

  /**
   * Writes access lines; false when their log takes nothing for now and they may not be dropped. When the host is
   * killed right afterwards, a line may be written twice, but never lost.
   */
  async takeAccess(access: Uint8Array, { mayDrop }: { readonly mayDrop: boolean }): Promise<boolean> {
    if (this.#accessLog === null || access.length === 0) return true;
    return this.#accessLog.write(access, { mayDrop });
  }

  rotate(): void {
    this.#log?.rotate();
    this.#accessLog?.rotate();
  }

  async close(): Promise<void> {
    await this.#log?.close();
    await this.#accessLog?.close();
  }

  #open(file: string | null): RotatingFile | null {
    if (file === null) return null;
    const { rotation, log } = this.#options;
    const warn = (message: string, error?: unknown): void => log.warn(message, error);
    return new RotatingFile({ file, rotation, owner: this.#target.owner, warn });
  }
}
