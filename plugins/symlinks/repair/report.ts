// The report of all changes of one run: lists as long as an answer can contain, and a file with all changes if there
// are more.
import { closeSync, openSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { Problem } from '#core';
import { HeldDirectory } from '../places/held-directory.ts';
import type { Places } from '../places/path-rules.ts';
import { type RawPath, rawOf, shownPath } from '../places/raw-path.ts';
import { realPlace } from '../places/real-places.ts';
import { BlockWriter } from '../tasks/block-writer.ts';
import { CappedList } from '../tasks/capped-list.ts';
import { DISK_FULL } from '../tasks/whole-write.ts';

const MODE = 0o640;
const MAX_REPORTS = 20;
const NEWLINE = '\n'.charCodeAt(0);
const REWRITE = Buffer.from('{"link_path"');

interface ReportFile {
  readonly path: RawPath;
  readonly descriptor: number;
  readonly writer: BlockWriter;
}

export class Report {
  readonly changes = new CappedList();
  readonly moves = new CappedList();
  readonly #places: Places;
  readonly #id: string;
  /** The lines that are not in a file yet, because the lists contain them all. */
  readonly #waiting: Uint8Array[] = [];
  #file: ReportFile | undefined;
  #fault: Report['fault'] = null;

  constructor(places: Places, id: string) {
    this.#places = places;
    this.#id = id;
  }

  /** `line` is the JSON of a change, without its newline. */
  add(line: string): void {
    this.addAll(Buffer.from(`${line}\n`), 1);
  }

  /** `lines` are the JSON of `count` changes of one kind, each with its newline. */
  addAll(lines: Uint8Array, count: number): void {
    if (count === 0) return;
    const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
    const isRewrite = bytes.subarray(0, REWRITE.length).equals(REWRITE);
    const list = isRewrite ? this.changes : this.moves;
    let looked = 0;
    for (let begin = 0; looked < count && !list.isCut; looked += 1) {
      const [from, to] = [begin, bytes.indexOf(NEWLINE, begin)];
      list.addLine(() => bytes.toString('utf8', from, to));
      begin = to + 1;
    }
    list.total += count - looked;
    if (this.#fault !== null) return;
    this.#waiting.push(lines);
    if (this.#file === undefined && list.isCut) this.#file = this.#open();
    if (this.#file === undefined) return;
    this.#writing(this.#file, ({ writer }) => {
      for (const waiting of this.#waiting.splice(0)) writer.write(waiting);
    });
  }

  /** Why there is no file although the lists are cut. */
  get fault(): { readonly link_path: string; readonly error: string } | null {
    return this.#fault;
  }

  /** Completes the file and gives its path; null when the lists contain everything, or writing has failed. */
  finish(): string | null {
    if (this.#file === undefined) return null;
    const file = this.#file;
    this.#writing(file, ({ writer }) => writer.flush());
    if (this.#fault !== null) return null;
    closeSync(file.descriptor);
    return shownPath(file.path);
  }

  /** Writes to the file. When the disk is full, the file is removed and the run goes on without it. */
  #writing(file: ReportFile, write: (file: ReportFile) => void): void {
    try {
      write(file);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== DISK_FULL) throw error;
      this.#fault = { link_path: shownPath(file.path), error: error.message };
      this.#file = undefined;
      closeSync(file.descriptor);
      const directory = HeldDirectory.open(path.posix.dirname(file.path));
      try {
        unlinkSync(directory.at(path.posix.basename(file.path)));
      } finally {
        directory.close();
      }
    }
  }

  #open() {
    const place = realPlace(rawOf(path.join(this.#places.stateDir, 'reports')));
    const directory = HeldDirectory.make(place, path.posix.dirname);
    try {
      const name = `${this.#id}.jsonl`;
      const descriptor = directory.telling(() => {
        keepNewest(directory);
        return openSync(directory.at(name), 'wx', MODE);
      });
      return {
        path: path.posix.join(place, name),
        descriptor,
        writer: new BlockWriter(descriptor, shownPath(path.posix.join(place, name))),
      };
    } finally {
      directory.close();
    }
  }
}

/** Removes the oldest reports, so that one more may be added. */
function keepNewest(directory: HeldDirectory): void {
  const reports = readdirSync(directory.at('.'), { encoding: 'latin1' }).filter(name => name.endsWith('.jsonl'));
  const ages = new Map(reports.map(name => [name, statSync(directory.at(name)).mtimeMs]));
  const oldest = reports.sort((a, b) => (ages.get(b) ?? 0) - (ages.get(a) ?? 0)).slice(MAX_REPORTS - 1);
  for (const name of oldest) unlinkSync(directory.at(name));
}
