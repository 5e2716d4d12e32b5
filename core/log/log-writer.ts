// Writes the host's log: passes records and captured output to subscribers and to standard output, and to the file in
// batches. Records that the disk does not take in time are dropped and counted.
import path from 'node:path';
import type { CapturedLines, LogLevel, LogLine, Rotation } from '../contract/log.ts';
import type { Disposer } from '../contract/plugin.ts';
import { reasonText } from '../kit/error-text.ts';
import type { GuardedDirectory } from '../kit/guarded-directory.ts';
import {
  formatDay,
  formatRecord,
  formatRecordAsJson,
  formatRecordWithMilliseconds,
  recordsOf,
} from '../kit/log-line.ts';
import { redact } from '../kit/redact.ts';
import { RotatingFile } from '../kit/rotating-file.ts';
import { Throttle } from '../kit/throttle.ts';

const BATCH_MS = 25;
/** How much of standard output may be unread, beyond what its pipe holds, before lines are left out. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** When more lines than this wait for the disk, the newest are dropped and counted. */
const MAX_PENDING_LINES = 50_000;
const COLORS: Readonly<Record<LogLevel, string>> = {
  DEBUG: '\x1b[36m',
  INFO: '\x1b[32m',
  WARNING: '\x1b[33m',
  ERROR: '\x1b[31m',
  CRITICAL: '\x1b[35m',
};

export interface LineSettings extends Rotation {
  readonly color: boolean;
  /** The format of lines in the file and on standard output; subscribers get records. */
  readonly format: 'text' | 'json';
  /** Whether the times of text have milliseconds. */
  readonly milliseconds: boolean;
}

export interface LogWriterOptions {
  /** First part of the file's name. */
  readonly name: string;
  readonly settings: () => LineSettings;
  /** The user to whom the files belong; null for the host's own user. */
  readonly owner: () => { readonly uid: number; readonly gid: number } | null;
  /** Whether lines also go to standard output. */
  readonly stdout: boolean;
  /** Whether lines are written to the file; subscribers and standard output receive them in any case. Default true. */
  readonly toDisk?: boolean;
}

export function rotationOf({ maxBytes, keep }: Rotation): Rotation {
  return { maxBytes, keep };
}

type Entry = LogLine | CapturedLines;

type LineFormat = (record: LogLine, color?: string) => string;

function lineFormatOf({ format, milliseconds }: LineSettings): LineFormat {
  if (format === 'json') return formatRecordAsJson;
  return milliseconds ? formatRecordWithMilliseconds : formatRecord;
}

/** The entry as the file holds it. Captured output comes in the default format, and is parsed only for another one. */
function bytesOf(entry: Entry, format: LineFormat): Uint8Array {
  if (!('block' in entry)) return Buffer.from(`${format(entry)}\n`);
  if (format === formatRecord) return entry.block;
  return Buffer.from(
    recordsOf(entry)
      .map(record => `${format(record)}\n`)
      .join(''),
  );
}

function toBlock(entries: readonly Entry[], format: LineFormat): Uint8Array {
  const [first] = entries;
  if (entries.length === 1 && first !== undefined) return bytesOf(first, format);
  return Buffer.concat(entries.map(entry => bytesOf(entry, format)));
}

/** Passes records to subscribers and, as text, to the file: at once when the log rests, otherwise every 25 ms. */
export class LogWriter {
  readonly #directory: string;
  readonly #place: GuardedDirectory | undefined;
  readonly #options: LogWriterOptions;
  readonly #isTerminal = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '';
  readonly #listeners = new Set<(records: readonly LogLine[]) => void>();
  #file: RotatingFile | undefined;
  #fileName = '';
  #pending: Entry[] = [];
  #dropped = 0;
  /** Whether standard output lacks lines, and no line there says so yet. */
  #leavesOut = false;
  readonly #soon = new Throttle(() => void this.flush(), BATCH_MS);
  #writing: Promise<void> = Promise.resolve();
  #unwritten = 0;
  #closed = false;

  constructor(directory: string, place: GuardedDirectory | undefined, options: LogWriterOptions) {
    this.#directory = directory;
    this.#place = place;
    this.#options = options;
  }

  get #format(): LineFormat {
    return lineFormatOf(this.#options.settings());
  }

  get #writes(): boolean {
    return this.#options.toDisk !== false;
  }

  subscribe(listener: (records: readonly LogLine[]) => void): Disposer {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  record({ at, level, text }: LogLine): void {
    this.#add({ at, level, text: redact(text) });
  }

  /** The caller awaits the writing of each block before it adds the next, so none is dropped. */
  captured(lines: CapturedLines): void {
    if (lines.block.length === 0) return;
    this.#print(lines);
    this.#queue(lines);
  }

  writeNow(level: LogLevel, texts: readonly string[]): void {
    const records = texts.map(text => ({ at: Date.now(), level, text: redact(text) }));
    const block = Buffer.from(toBlock([...this.#pending.splice(0), ...records], this.#format)).toString();
    try {
      this.#place?.appendNow(this.#nameOfToday(), block);
    } catch {
      // A failing disk must not hide the message, which goes to standard error in any case.
    }
    process.stderr.write(block);
  }

  flush(): Promise<void> {
    this.#soon.cancel();
    const entries = this.#pending.splice(0);
    if (this.#dropped > 0) {
      const text = `host: ${this.#dropped} log lines were dropped: the disk is too slow`;
      entries.push({ at: Date.now(), level: 'WARNING', text });
      this.#dropped = 0;
    }
    if (entries.length > 0) {
      this.#unwritten += entries.length;
      this.#writing = this.#writing
        .then(() => this.#write(entries))
        .catch((error: unknown) => this.#complain('the log cannot be written', error))
        .finally(() => {
          this.#unwritten -= entries.length;
        });
      this.#tell(entries);
    }
    return this.#writing;
  }

  rotate(): void {
    this.#file?.rotate();
  }

  /** Later records go to standard output only, because the directory may be removed as soon as this resolves. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
    await this.#file?.close();
    this.#place?.close();
  }

  #add(line: LogLine): void {
    this.#print(line);
    if (this.#pending.length + this.#unwritten < MAX_PENDING_LINES) this.#queue(line);
    else if (!this.#closed) this.#dropped += 1;
  }

  /** Writes an entry to standard output in one write, because a write to a file or a terminal is synchronous. */
  #print(entry: Entry): void {
    if (!this.#options.stdout) return;
    // A pipe whose reader does not read takes nothing, and Node would keep all lines in memory.
    if (process.stdout.writableLength > MAX_UNREAD_BYTES) {
      this.#leavesOut = true;
      return;
    }
    if (this.#leavesOut) {
      this.#leavesOut = false;
      const text = 'host: lines are left out here, because nobody read them in time; the log file has them';
      this.#print({ at: Date.now(), level: 'WARNING', text });
    }
    const format = this.#format;
    if (this.#options.settings().color && this.#isTerminal) {
      const lines = 'block' in entry ? recordsOf(entry) : [entry];
      process.stdout.write(lines.map(line => `${format(line, COLORS[line.level])}\n`).join(''));
    } else {
      // A copy, because a slow reader may take the bytes when the block already holds other lines.
      process.stdout.write(Buffer.from(bytesOf(entry, format)));
    }
  }

  #queue(entry: Entry): void {
    if (this.#closed) return;
    this.#pending.push(entry);
    this.#soon.call();
  }

  #tell(entries: readonly Entry[]): void {
    if (this.#listeners.size === 0) return;
    const lines = entries.flatMap(entry => ('block' in entry ? recordsOf(entry) : [entry]));
    for (const listener of this.#listeners) {
      try {
        listener(lines);
      } catch (error) {
        this.#complain('a listener of the log failed', error);
      }
    }
  }

  /** Writes to standard error, because the log cannot report its own faults. */
  #complain(message: string, error?: unknown): void {
    const reason = error === undefined ? '' : `: ${reasonText(error)}`;
    process.stderr.write(`${this.#format({ at: Date.now(), level: 'WARNING', text: message + reason })}\n`);
  }

  #nameOfToday(): string {
    return `${this.#options.name}-${formatDay(Date.now())}.log`;
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    if (!this.#writes) return;
    const name = this.#nameOfToday();
    if (this.#file === undefined || this.#fileName !== name) {
      await this.#file?.close();
      this.#fileName = name;
      this.#file = new RotatingFile({
        file: path.join(this.#directory, name),
        rotation: () => rotationOf(this.#options.settings()),
        owner: this.#options.owner(),
        datedName: true,
        warn: (message, error) => this.#complain(message, error),
      });
    }
    const block = toBlock(entries, this.#format);
    if (await this.#file.prepare(block.length)) await this.#file.append(block);
  }
}
