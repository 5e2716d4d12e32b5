// The journal of a run: its undo manifest while it is written. The file is named `.partial`, and each change is on the
// disk before it is made. `finish` makes a complete manifest of it; a host does so after an interrupted run.
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { Problem } from '#core';
import { HeldDirectory } from '../places/held-directory.ts';
import { jsonLine, type RawPath, rawMember, shownPath } from '../places/raw-path.ts';
import { isReplaceable } from '../places/real-places.ts';
import { writeWhole } from '../tasks/whole-write.ts';

const MODE = 0o640;
const CHUNK_BYTES = 1_048_576;
const NEWLINE = '\n'.charCodeAt(0);
const CHANGES = '"changes": [';
const END_OF_CHANGES = '],';

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

export type ChangeLine = Readonly<Record<string, unknown>>;

/** The line of a change in the file. `change` is undefined for a line that was damaged by a loss of power. */
interface FoundLine {
  readonly change: ChangeLine | undefined;
  readonly begin: number;
  /** The offset after its newline. */
  readonly end: number;
}

export class Journal {
  readonly #directory: HeldDirectory;
  readonly #file: RawPath;
  readonly #name: RawPath;
  readonly #descriptor: number;
  #end: number;
  #unwritten = '';

  private constructor(directory: HeldDirectory, file: RawPath, descriptor: number) {
    this.#directory = directory;
    this.#file = partial(file);
    this.#name = path.posix.basename(file);
    this.#descriptor = descriptor;
    this.#end = fstatSync(descriptor).size;
  }

  /**
   * `file` is a real path, whose missing directories are created. `header` has the members before the lists. Throws a
   * Problem 409 when an interrupted run has left its journal there.
   */
  static create(file: RawPath, header: object, owner: FileOwner | null): Journal {
    const parent = path.posix.dirname(file);
    const directory = HeldDirectory.make(parent, path.posix.dirname);
    const name = path.posix.basename(file);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    let descriptor: number;
    try {
      descriptor = directory.telling(() => openSync(directory.at(partial(name)), flags, MODE));
    } catch (error) {
      directory.close();
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new Problem(
        409,
        `${shownPath(partial(file))} is what a run that was cut off has left; move it away, or choose another backup_path.`,
        { cause: error },
      );
    }
    const journal = new Journal(directory, file, descriptor);
    try {
      fchmodSync(descriptor, MODE);
      if (owner !== null && process.geteuid?.() === 0) fchownSync(descriptor, owner.uid, owner.gid);
      journal.#write(`${JSON.stringify(header).slice(0, -1)},\n${CHANGES}\n`);
      return journal;
    } catch (error) {
      journal.discard();
      throw error;
    }
  }

  /** Opens the journal that a run has left for this real path; undefined when there is none. */
  static reopen(file: RawPath): Journal | undefined {
    const name = path.posix.basename(file);
    try {
      const directory = HeldDirectory.open(path.posix.dirname(file));
      return new Journal(
        directory,
        file,
        openSync(directory.at(partial(name)), constants.O_RDWR | constants.O_NOFOLLOW),
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Writes lines of changes that are about to be made. Returns the offset of each once they are on the disk. */
  append(lines: readonly string[]): number[] {
    let begin = this.#end;
    const begins = lines.map(line => {
      const own = begin;
      begin += Buffer.byteLength(line) + 2;
      return own;
    });
    this.#write(lines.map(line => `${line},\n`).join(''));
    fsyncSync(this.#descriptor);
    return begins;
  }

  /** Blanks the line at this offset, because its change was not made. */
  takeOut(begin: number, line: string): void {
    this.#blank(begin, begin + Buffer.byteLength(line) + 1);
  }

  /** The changes, oldest first. */
  *changes(): Generator<ChangeLine> {
    for (const { change } of this.#lines()) if (change !== undefined) yield change;
  }

  /**
   * Makes a complete manifest of the journal and renames it to its place. An empty journal is removed. Throws an Error
   * when the place contains something other than a manifest now.
   */
  finish(): void {
    // Without even a header, no change can have been made.
    if (this.#end === 0) {
      this.discard();
      return;
    }
    let last: FoundLine | undefined;
    for (const found of this.#lines()) {
      if (found.change === undefined) this.#blank(found.begin, found.end - 1);
      else last = found;
    }
    // Cuts off what an interrupted `finish` has written.
    const end = last?.end ?? this.#headerEnd();
    ftruncateSync(this.#descriptor, end);
    this.#end = end;
    // JSON has no comma after the last element.
    if (last !== undefined) this.#blank(last.end - 2, last.end - 1);
    this.#write(`${END_OF_CHANGES}\n"entries": [`);
    let comma = '\n';
    for (const { change } of this.#lines(end)) {
      if (change === undefined) continue;
      this.#writeSoon(`${comma}${entryOf(change)}`);
      comma = ',\n';
    }
    this.#write('\n]}\n');
    fsyncSync(this.#descriptor);
    const directory = this.#directory;
    const present = directory.entry(this.#name);
    if (present !== undefined && !isReplaceable(present, directory.at(this.#name)))
      throw new Error(`${shownPath(this.#name)} is no manifest and is kept`);
    directory.telling(() => renameSync(directory.at(partial(this.#name)), directory.at(this.#name)));
    this.#close();
  }

  /** Removes the journal, because nothing was changed or no undo manifest is wanted. */
  discard(): void {
    const directory = this.#directory;
    directory.telling(() => unlinkSync(directory.at(partial(this.#name))));
    this.#close();
  }

  #close(): void {
    closeSync(this.#descriptor);
    this.#directory.close();
  }

  #writeSoon(text: string): void {
    this.#unwritten += text;
    if (this.#unwritten.length > CHUNK_BYTES) this.#write('');
  }

  #write(text: string): void {
    const bytes = Buffer.from(this.#unwritten + text, 'utf8');
    this.#unwritten = '';
    writeWhole(this.#descriptor, bytes, this.#end, shownPath(this.#file));
    this.#end += bytes.length;
  }

  #blank(begin: number, end: number): void {
    writeSync(this.#descriptor, Buffer.alloc(end - begin, ' '), 0, end - begin, begin);
  }

  #headerEnd(): number {
    for (const { text, end } of this.#texts(this.#end)) if (text === CHANGES) return end;
    throw new Error(`${shownPath(partial(this.#name))} has no beginning`);
  }

  *#lines(until = this.#end): Generator<FoundLine> {
    let isHeader = true;
    for (const { text, begin, end } of this.#texts(until)) {
      if (isHeader) isHeader = text !== CHANGES;
      else if (text === END_OF_CHANGES) return;
      else if (text.trim() !== '') yield { change: changeOf(text), begin, end };
    }
  }

  /** The lines that end with a newline. */
  *#texts(until: number): Generator<{ text: string; begin: number; end: number }> {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let data = Buffer.alloc(0);
    let begin = 0;
    for (let at = 0; at < until; ) {
      const read = readSync(this.#descriptor, chunk, 0, Math.min(CHUNK_BYTES, until - at), at);
      if (read === 0) return;
      at += read;
      data = Buffer.concat([data, chunk.subarray(0, read)]);
      let from = 0;
      for (let newline = data.indexOf(NEWLINE); newline >= 0; newline = data.indexOf(NEWLINE, from)) {
        const end = begin + newline - from + 1;
        yield { text: data.toString('utf8', from, newline), begin, end };
        begin = end;
        from = newline + 1;
      }
      data = data.subarray(from);
    }
  }
}

export function partial(file: RawPath): RawPath {
  return `${file}.partial`;
}

function changeOf(text: string): ChangeLine | undefined {
  try {
    const change: unknown = JSON.parse(text.trimEnd().replace(/,$/, ''));
    return typeof change === 'object' && change !== null ? (change as ChangeLine) : undefined;
  } catch {
    return undefined;
  }
}

/** The entry of a manifest for the link as it was before the change. */
function entryOf(change: ChangeLine): string {
  const place = rawMember(change, 'link_path') ?? rawMember(change, 'source_path') ?? '';
  return shownPath(jsonLine({ link_path: place, target: rawMember(change, 'old_target') ?? '' })).trimEnd();
}
