// The changes of one run, all of them: those that an answer can hold, and a file with the rest where there are more.
import { closeSync, openSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { HeldDirectory } from '../places/held-directory.ts';
import type { Places } from '../places/path-rules.ts';
import { type RawPath, rawOf, shownPath } from '../places/raw-path.ts';
import { realPlace } from '../places/real-places.ts';
import { BlockWriter } from '../tasks/block-writer.ts';
import { CappedList } from '../tasks/capped-list.ts';

const MODE = 0o640;
const MAX_REPORTS = 20;
const NEWLINE = '\n'.charCodeAt(0);
const REWRITE = Buffer.from('{"link_path"');

export class Report {
  readonly changes = new CappedList();
  readonly moves = new CappedList();
  readonly #places: Places;
  readonly #id: string;
  /** Lines while the lists hold them all. */
  readonly #waiting: Uint8Array[] = [];
  #file: { readonly path: RawPath; readonly descriptor: number; readonly writer: BlockWriter } | undefined;

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
    if (this.#file === undefined) this.#waiting.push(lines);
    else this.#file.writer.write(lines);
    if (this.#file === undefined && list.isCut) {
      this.#file = this.#open();
      for (const waiting of this.#waiting.splice(0)) this.#file.writer.write(waiting);
    }
  }

  /** The path of the file; null when the lists hold everything. */
  finish(): string | null {
    if (this.#file === undefined) return null;
    this.#file.writer.flush();
    closeSync(this.#file.descriptor);
    return shownPath(this.#file.path);
  }

  #open() {
    const place = realPlace(rawOf(path.join(this.#places.stateDir, 'reports')));
    const directory = HeldDirectory.make(place, path.posix.dirname);
    try {
      keepNewest(directory);
      const name = `${this.#id}.jsonl`;
      const descriptor = openSync(directory.at(name), 'wx', MODE);
      return { path: path.posix.join(place, name), descriptor, writer: new BlockWriter(descriptor) };
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
