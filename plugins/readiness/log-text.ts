// Finds out whether a text has appeared in the log of a service since its launch, also in what was rotated meanwhile.
// The log is read in parts, each byte once.
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { GuardedDirectory } from '#kit/guarded-directory';
import { rotatedNames } from '#kit/rotating-file';
import { isLogPattern, matchesLogPattern, newestFirst } from '#kit/service-log';

const PART_BYTES = 1_048_576;
/** Of one file, at each look. */
const MAX_PARTS = 64;
const MAX_BEFORE_BYTES = 4_096;
/** Of a log with a date in its name. After midnight, the one before it may have lines that no look has seen. */
const PRESENT_FILES = 2;
/** Behind the name of a log that its program has rotated. */
const NUMBER = /^\.\d{1,6}$/;
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
  /** The identity of the file that has the log's name; it changes when the log is rotated. */
  #present: string | undefined;
  #isFound = false;

  private constructor(file: string, text: string, positions: Map<string, Position>, present: string | undefined) {
    this.#file = file;
    this.#text = Buffer.from(text);
    this.#positions = positions;
    this.#present = present;
  }

  /** Begins at the present end of the log. */
  static async from(file: string, text: string): Promise<LogText> {
    const positions = new Map<string, Position>();
    let present: string | undefined;
    await GuardedDirectory.at(file, async (directory, name) => {
      const [newest, ...others] = await filesOf(directory, name);
      for (const { entry } of others) positions.set(idOf(entry), { ...BEGINNING, through: entry.size });
      if (newest === undefined) return;
      present = idOf(newest.entry);
      const through = newest.entry.size;
      positions.set(idOf(newest.entry), { ...BEGINNING, through });
      const before = await reading(directory, newest.name, handle => bytesBefore(handle, through));
      positions.set(idOf(newest.entry), { ...BEGINNING, through, before });
    }).catch(() => undefined);
    return new LogText(file, text, positions, present);
  }

  /** null when the text has appeared, else the reason in one line. */
  async look(): Promise<string | null> {
    const missing = 'the text of its log has not come yet';
    if (this.#isFound) return null;
    try {
      await GuardedDirectory.at(this.#file, async (directory, name) => {
        for (const { name: unread } of await this.#unread(directory, name))
          if (!this.#isFound) await reading(directory, unread, handle => this.#read(handle));
      });
    } catch {
      return `${missing}, and the log cannot be read`;
    }
    return this.#isFound ? null : missing;
  }

  /** The present file, and where the log was rotated since the last look, the files that have more than was read. */
  async #unread(directory: GuardedDirectory, name: string): Promise<readonly { readonly name: string }[]> {
    if (isLogPattern(name)) return (await filesOf(directory, name)).slice(0, PRESENT_FILES);
    const entry = await directory.stat(name);
    const id = entry === null ? undefined : idOf(entry);
    if (entry !== null && id === this.#present) return [{ name }];
    const files = await filesOf(directory, name);
    this.#present = id;
    if (files.length === 0) return [{ name }];
    return files.filter(
      file => file.name === name || this.#positions.get(idOf(file.entry))?.through !== file.entry.size,
    );
  }

  async #read(handle: FileHandle): Promise<void> {
    for (let parts = 0; parts < MAX_PARTS && !this.#isFound; parts += 1) if (!(await this.#readPart(handle))) return;
  }

  /** True when there is more to read. */
  async #readPart(handle: FileHandle): Promise<boolean> {
    const entry = await handle.stat();
    const known = this.#positions.get(idOf(entry)) ?? BEGINNING;
    const { through, rest } = (await goesOn(handle, entry, known)) ? known : BEGINNING;
    const length = Math.min(entry.size - through, PART_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), { position: through });
    const all = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    this.#isFound = all.includes(this.#text);
    this.#positions.set(idOf(entry), {
      through: through + bytesRead,
      before: await bytesBefore(handle, through + bytesRead),
      // Copied, because a part of it would keep all of it in memory.
      rest: Buffer.from(all.subarray(Math.max(0, all.length - this.#text.length + 1))),
    });
    return bytesRead === PART_BYTES;
  }
}

interface LogFile {
  readonly name: string;
  readonly entry: Stats;
}

/** The files that a name, with those that it was rotated to, or a pattern stands for; the present one first. */
async function filesOf(directory: GuardedDirectory, name: string): Promise<readonly LogFile[]> {
  if (isLogPattern(name)) return newestFirst(directory, candidate => matchesLogPattern(candidate, name));
  const entry = await directory.stat(name);
  const rotated = new Set(rotatedNames(await directory.names(), name));
  const numbered = (other: string): boolean => other.startsWith(`${name}.`) && NUMBER.test(other.slice(name.length));
  const others = await newestFirst(directory, other => rotated.has(other) || numbered(other));
  return entry === null ? others : [{ name, entry }, ...others];
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
