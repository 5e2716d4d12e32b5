// Finds out whether a text has appeared in the log of a service since its launch. The log is read in parts, each byte
// once.
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { GuardedDirectory } from '#kit/guarded-directory';
import { isLogPattern, matchesLogPattern, newestFirst } from '#kit/service-log';

const MAX_READ_BYTES = 1_048_576;
const MAX_BEFORE_BYTES = 4_096;
/** Of a log with a date in its name. After midnight, the one before it may have lines that no look has seen. */
const PRESENT_FILES = 2;
const EMPTY = Buffer.alloc(0);

interface Position {
  readonly through: number;
  /** The last bytes before it. Others in their place show that the file was begun anew. */
  readonly before: Buffer;
  /** The end of what was read, because the text may go on in the next part. */
  readonly rest: Buffer;
}

const BEGINNING: Position = { through: 0, before: EMPTY, rest: EMPTY };

export class LogText {
  readonly #file: string;
  readonly #text: Buffer;
  /** By the identity of each file. */
  readonly #positions: Map<string, Position>;
  #isFound = false;

  private constructor(file: string, text: string, positions: Map<string, Position>) {
    this.#file = file;
    this.#text = Buffer.from(text);
    this.#positions = positions;
  }

  /** Begins at the present end of the log. */
  static async from(file: string, text: string): Promise<LogText> {
    const positions = new Map<string, Position>();
    await GuardedDirectory.at(file, async (directory, name) => {
      const [newest, ...others] = await filesOf(directory, name);
      for (const { entry } of others) positions.set(idOf(entry), { ...BEGINNING, through: entry.size });
      if (newest === undefined) return;
      const through = newest.entry.size;
      positions.set(idOf(newest.entry), { ...BEGINNING, through });
      const before = await reading(directory, newest.name, handle => bytesBefore(handle, through));
      positions.set(idOf(newest.entry), { ...BEGINNING, through, before });
    }).catch(() => undefined);
    return new LogText(file, text, positions);
  }

  /** null when the text has appeared, else the reason in one line. */
  async look(): Promise<string | null> {
    const missing = 'the text of its log has not come yet';
    if (this.#isFound) return null;
    try {
      await GuardedDirectory.at(this.#file, async (directory, name) => {
        const present = isLogPattern(name) ? (await filesOf(directory, name)).slice(0, PRESENT_FILES) : [{ name }];
        for (const file of present)
          if (!this.#isFound) await reading(directory, file.name, handle => this.#read(handle));
      });
    } catch {
      return `${missing}, and the log cannot be read`;
    }
    return this.#isFound ? null : missing;
  }

  async #read(handle: FileHandle): Promise<void> {
    const entry = await handle.stat();
    const known = this.#positions.get(idOf(entry)) ?? BEGINNING;
    const { through, rest } = (await goesOn(handle, entry, known)) ? known : BEGINNING;
    const length = Math.min(entry.size - through, MAX_READ_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), { position: through });
    const all = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    this.#isFound = all.includes(this.#text);
    this.#positions.set(idOf(entry), {
      through: through + bytesRead,
      before: await bytesBefore(handle, through + bytesRead),
      rest: all.subarray(Math.max(0, all.length - this.#text.length + 1)),
    });
  }
}

interface LogFile {
  readonly name: string;
  readonly entry: Stats;
}

/** The files that a name or pattern stands for, the present one first. */
async function filesOf(directory: GuardedDirectory, name: string): Promise<readonly LogFile[]> {
  if (isLogPattern(name)) return newestFirst(directory, candidate => matchesLogPattern(candidate, name));
  const entry = await directory.stat(name);
  return entry === null ? [] : [{ name, entry }];
}

function idOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

async function reading<Value>(
  directory: GuardedDirectory,
  name: string,
  use: (handle: FileHandle) => Promise<Value>,
): Promise<Value> {
  const handle = await directory.openFile(name, 'read');
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/** Whether the file still has what was read of it. */
async function goesOn(handle: FileHandle, { size }: Stats, { through, before }: Position): Promise<boolean> {
  return size >= through && before.equals(await bytesBefore(handle, through, before.length));
}

async function bytesBefore(handle: FileHandle, end: number, limit = MAX_BEFORE_BYTES): Promise<Buffer> {
  const length = Math.min(end, limit);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, end - length);
  return buffer.subarray(0, bytesRead);
}
