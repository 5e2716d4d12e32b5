// The log of the tool. Output is written before more is read, so that no amount of it fills the memory.
import type { Readable } from 'node:stream';
import { formatRecord } from '#kit/log-line';
import { LOOKED_BEYOND, redactedHead } from '#kit/redacted-head';
import { RotatingFile, type RotatingFileOptions } from '#kit/rotating-file';

/** The process name in its log lines; clients parse the lines by this name. */
export const TOOL = 'Plex DBRepair';
const MAX_LINE = 16_384;

export class ToolLog {
  readonly #file: RotatingFile;
  #writing = Promise.resolve();
  #lastLine = '';

  constructor(options: RotatingFileOptions) {
    this.#file = new RotatingFile(options);
  }

  /** The last line that was not blank; '' before the first. */
  get lastLine(): string {
    return this.#lastLine;
  }

  /** Resolves when the output has ended and is written. Rejects when the stream is destroyed before. */
  async record(output: Readable): Promise<void> {
    let rest = '';
    for await (const text of output.setEncoding('utf8')) {
      const lines = `${rest}${text}`.split(/\r?\n/);
      rest = (lines.pop() ?? '').slice(0, MAX_LINE + LOOKED_BEYOND + 1);
      await this.#write(lines);
    }
    await this.#write([rest]);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #write(lines: readonly string[]): Promise<void> {
    const texts = lines.map(line => redactedHead(line, MAX_LINE).trimEnd()).filter(text => text !== '');
    this.#lastLine = texts.at(-1) ?? this.#lastLine;
    const at = Date.now();
    const records = texts.map(text => `${formatRecord({ at, level: 'INFO', text, processName: TOOL })}\n`);
    this.#writing = this.#writing.then(() => this.#append(Buffer.from(records.join(''))));
    return this.#writing;
  }

  async #append(data: Buffer): Promise<void> {
    if (data.length > 0 && (await this.#file.prepare(data.length))) await this.#file.append(data);
  }
}
