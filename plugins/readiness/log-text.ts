// Finds out whether a text has appeared in the log of a service since its launch. The log is read in parts, each byte
// once.
import { GuardedDirectory } from '#kit/guarded-directory';

const MAX_READ_BYTES = 1_048_576;

export class LogText {
  readonly #file: string;
  readonly #text: Buffer;
  #position: number;
  /** The end of what was read, because the text may go on in the next part. */
  #rest: Buffer = Buffer.alloc(0);
  #isFound = false;

  private constructor(file: string, text: string, position: number) {
    this.#file = file;
    this.#text = Buffer.from(text);
    this.#position = position;
  }

  /** Begins at the present end of the log. */
  static async from(file: string, text: string): Promise<LogText> {
    const size = await GuardedDirectory.at(
      file,
      async (directory, name) => (await directory.stat(name))?.size ?? 0,
    ).catch(() => 0);
    return new LogText(file, text, size);
  }

  /** null when the text has appeared, else the reason in one line. */
  async look(): Promise<string | null> {
    const missing = 'the text of its log has not come yet';
    if (this.#isFound) return null;
    try {
      await GuardedDirectory.at(this.#file, async (directory, name) => {
        const handle = await directory.openFile(name, 'read');
        try {
          const { size } = await handle.stat();
          // A rotated log begins anew.
          if (size < this.#position) this.#position = 0;
          const { buffer, bytesRead } = await handle.read(
            Buffer.alloc(Math.min(size - this.#position, MAX_READ_BYTES)),
            { position: this.#position },
          );
          this.#position += bytesRead;
          this.#take(buffer.subarray(0, bytesRead));
        } finally {
          await handle.close();
        }
      });
    } catch {
      return `${missing}, and the log cannot be read`;
    }
    return this.#isFound ? null : missing;
  }

  #take(bytes: Buffer): void {
    const all = Buffer.concat([this.#rest, bytes]);
    this.#isFound = all.includes(this.#text);
    this.#rest = all.subarray(Math.max(0, all.length - this.#text.length + 1));
  }
}
