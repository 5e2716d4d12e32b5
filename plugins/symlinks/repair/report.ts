// The changes of one run, all of them: those that an answer can hold, and a file with the rest where there are more.
import { closeSync, openSync, readdirSync, statSync, unlinkSync, writeSync } from 'node:fs';
import path from 'node:path';
import { HeldDirectory } from '../places/held-directory.ts';
import type { Places } from '../places/path-rules.ts';
import { type RawPath, rawOf, shownPath } from '../places/raw-path.ts';
import { realPlace } from '../places/real-places.ts';
import { CappedList } from '../tasks/capped-list.ts';

const MODE = 0o640;
const MAX_REPORTS = 20;
const CHUNK_CHARACTERS = 1_000_000;

export class Report {
  readonly changes = new CappedList();
  readonly moves = new CappedList();
  readonly #places: Places;
  readonly #id: string;
  /** Lines that are not in the file yet. */
  #lines = '';
  #file: { readonly path: RawPath; readonly descriptor: number } | undefined;

  constructor(places: Places, id: string) {
    this.#places = places;
    this.#id = id;
  }

  /** `line` is the JSON of a change, without its newline. */
  add(line: string): void {
    const list = line.startsWith('{"link_path"') ? this.changes : this.moves;
    list.addLine(() => line);
    this.#lines += `${line}\n`;
    if (this.#lines.length > CHUNK_CHARACTERS && (this.changes.isCut || this.moves.isCut)) this.#flush();
  }

  /** The path of the file; null when the lists hold everything. */
  finish(): string | null {
    if (!this.changes.isCut && !this.moves.isCut) return null;
    this.#flush();
    if (this.#file === undefined) return null;
    closeSync(this.#file.descriptor);
    return shownPath(this.#file.path);
  }

  #flush(): void {
    this.#file ??= this.#open();
    const bytes = Buffer.from(this.#lines, 'utf8');
    this.#lines = '';
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file.descriptor, bytes, done);
  }

  #open() {
    const place = realPlace(rawOf(path.join(this.#places.stateDir, 'reports')));
    const directory = HeldDirectory.make(place, path.posix.dirname);
    try {
      keepNewest(directory);
      const name = `${this.#id}.jsonl`;
      return { path: path.posix.join(place, name), descriptor: openSync(directory.at(name), 'wx', MODE) };
    } finally {
      directory.close();
    }
  }
}

/** Leaves room for one more. */
function keepNewest(directory: HeldDirectory): void {
  const reports = readdirSync(directory.at('.'), { encoding: 'latin1' }).filter(name => name.endsWith('.jsonl'));
  const ages = new Map(reports.map(name => [name, statSync(directory.at(name)).mtimeMs]));
  const oldest = reports.sort((a, b) => (ages.get(b) ?? 0) - (ages.get(a) ?? 0)).slice(MAX_REPORTS - 1);
  for (const name of oldest) unlinkSync(directory.at(name));
}
