// Reads a manifest as a stream: the header at once, then the entries in order, or the changes newest first. Memory does
// not grow with the size of the file, whatever the order of its keys, and nothing is given before the whole document
// has been checked to be JSON.
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { Problem } from '#core';
import { type RawPath, rawMember, rawOf } from '../places/raw-path.ts';
import { JsonScanner, NotJson } from './json-scanner.ts';

type ManifestType = 'symlink_snapshot' | 'symlink_repair';

export interface ManifestHeader {
  readonly type: ManifestType;
  readonly createdAt: string | null;
  /** The roots below which its links lie, including those of migrations. */
  readonly roots: readonly string[];
  readonly processName: string | null;
}

export interface ManifestEntry {
  readonly linkPath: RawPath;
  readonly target: RawPath;
}

/** What a repair did to one link. */
export type ManifestChange =
  | { readonly kind: 'rewrite'; readonly linkPath: RawPath; readonly oldTarget: RawPath; readonly newTarget: RawPath }
  | {
      readonly kind: 'move' | 'copy';
      readonly sourcePath: RawPath;
      readonly targetPath: RawPath;
      readonly oldTarget: RawPath;
      readonly newTarget: RawPath;
      /** The target of the link that stood at `targetPath` before; null when there was none. */
      readonly replacedTarget: RawPath | null;
      /** How many directories were made for it, from that of `targetPath` upwards. */
      readonly newDirectories: number;
    };

const MAX_BYTES = 2 ** 33;
/** How many changes are read at a time to be given in reverse order. */
const REVERSED = 2_048;
const TYPES: readonly unknown[] = ['symlink_snapshot', 'symlink_repair'] satisfies ManifestType[];
const HEADER_KEYS = ['manifest_type', 'created_at', 'roots', 'root_migrations', 'process_name'];

export type ManifestItem = ManifestEntry | ManifestChange;

export class Manifest {
  readonly file: string;
  readonly header: ManifestHeader;
  readonly #descriptor: number;
  readonly #lists: ReadonlyMap<string, ListIndex>;

  private constructor(file: string, descriptor: number) {
    this.file = file;
    this.#descriptor = descriptor;
    const { members, lists } = survey(descriptor);
    this.#lists = lists;
    const { manifest_type: type, created_at: createdAt, process_name: processName } = Object.fromEntries(members);
    if (lists.size === 0)
      throw new Problem(400, `${file} is no manifest: it has neither entries nor changes as a list`);
    const guessed = lists.has('entries') ? 'symlink_snapshot' : 'symlink_repair';
    this.header = {
      type: TYPES.includes(type) ? (type as ManifestType) : guessed,
      createdAt: textOf(createdAt),
      roots: rootsOf(members.get('roots'), members.get('root_migrations')),
      processName: textOf(processName),
    };
  }

  /** Throws a Problem: 404 when there is no such file, 400 when it is no regular file or no manifest. */
  static open(file: string): Manifest {
    const descriptor = openManifest(file);
    try {
      return new Manifest(file, descriptor);
    } catch (error) {
      closeSync(descriptor);
      throw error instanceof NotJson ? new Problem(400, `${file} is no manifest: ${error.message}`) : error;
    }
  }

  /** The number of elements that `items` gives. */
  get total(): number {
    return this.#lists.get(this.#isUndone ? 'changes' : 'entries')?.count ?? 0;
  }

  /** What is to be restored: the changes of a repair, newest first, or the entries. null is an invalid element. */
  items(): Generator<ManifestItem | null> {
    return this.#isUndone ? this.#changesNewestFirst() : this.#entries();
  }

  get #isUndone(): boolean {
    return this.header.type === 'symlink_repair' && this.#lists.has('changes');
  }

  *#entries(): Generator<ManifestEntry | null> {
    const list = this.#lists.get('entries');
    if (list === undefined) return;
    for (const element of this.#elements(list.offsets[0], list.count)) yield entryOf(element);
  }

  *#changesNewestFirst(): Generator<ManifestChange | null> {
    const list = this.#lists.get('changes');
    if (list === undefined) return;
    const places = Math.ceil(REVERSED / list.stride);
    for (let end = list.offsets.length; end > 0; end -= places) {
      const first = Math.max(0, end - places);
      const size = Math.min(list.count, end * list.stride) - first * list.stride;
      const changes = Array.from(this.#elements(list.offsets[first], size), changeOf);
      yield* changes.reverse();
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  *#elements(offset: number | undefined, count: number): Generator<unknown> {
    if (offset === undefined) return;
    const scanner = new JsonScanner(this.#descriptor, offset);
    try {
      for (let index = 0; index < count; index += 1) {
        if (index > 0) scanner.comma();
        yield scanner.value();
      }
    } catch (error) {
      throw error instanceof NotJson
        ? new Problem(409, `${this.file} was changed while it was read; try again`)
        : error;
    }
  }
}

/** Opens a file to read. Throws a Problem: 404 for a missing file, 400 for an irregular or too large one, else 500. */
export function openManifest(file: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new Problem(404, `${file} does not exist; give the path of a manifest`, { cause: error });
    if (code === 'ENXIO') throw irregular(file);
    throw new Problem(500, `${file} cannot be read: ${code}`, { cause: error });
  }
  const entry = fstatSync(descriptor);
  if (entry.isFile() && entry.size <= MAX_BYTES) return descriptor;
  closeSync(descriptor);
  if (!entry.isFile()) throw irregular(file);
  throw new Problem(400, `${file} is no manifest: it is larger than ${MAX_BYTES} bytes`);
}

function irregular(file: string): Problem {
  return new Problem(400, `${file} is no regular file; give the path of a manifest`);
}

/**
 * What a file contains, as far as its beginning shows: nothing, a manifest without or with elements, or something else.
 * An incomplete manifest is recognised too.
 */
export function recognise(descriptor: number): 'nothing' | 'empty' | 'filled' | 'foreign' {
  if (fstatSync(descriptor).size === 0) return 'nothing';
  let found: 'empty' | 'foreign' = 'foreign';
  try {
    const scanner = new JsonScanner(descriptor);
    for (const key of scanner.members()) {
      if (!isList(String(key)) || !scanner.isArray()) {
        scanner.skip();
        continue;
      }
      if (scanner.elements().next().done !== true) return 'filled';
      found = 'empty';
    }
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
  }
  return found;
}

function isList(key: string): boolean {
  return key === 'entries' || key === 'changes';
}

/** The offsets in the file of the elements of a list: of all elements, or of every `stride`th of a long list. */
class ListIndex {
  static readonly #most = 1 << 16;
  count = 0;
  stride = 1;
  offsets: number[] = [];

  add(offset: number): void {
    if (this.offsets.length === ListIndex.#most) {
      this.offsets = this.offsets.filter((_, index) => index % 2 === 0);
      this.stride *= 2;
    }
    if (this.count % this.stride === 0) this.offsets.push(offset);
    this.count += 1;
  }
}

function survey(descriptor: number): { members: Map<string, unknown>; lists: Map<string, ListIndex> } {
  const members = new Map<string, unknown>();
  const lists = new Map<string, ListIndex>();
  const scanner = new JsonScanner(descriptor);
  if (!scanner.isObject()) throw new NotJson('it does not begin with {');
  for (const key of scanner.members()) {
    const name = String(key);
    if (isList(name) && scanner.isArray()) lists.set(name, indexOf(scanner));
    else if (HEADER_KEYS.includes(name)) members.set(name, scanner.value());
    else scanner.skip();
  }
  scanner.end();
  return { members, lists };
}

function indexOf(scanner: JsonScanner): ListIndex {
  const index = new ListIndex();
  for (const offset of scanner.elements()) {
    index.add(offset);
    scanner.skip();
  }
  return index;
}

function entryOf(element: unknown): ManifestEntry | null {
  const object = objectOf(element);
  if (object === null) return null;
  const linkPath = memberOf(object, 'link_path');
  const target = memberOf(object, 'target');
  return linkPath === null || target === null ? null : { linkPath, target };
}

function changeOf(element: unknown): ManifestChange | null {
  const object = objectOf(element);
  if (object === null) return null;
  const oldTarget = memberOf(object, 'old_target');
  const newTarget = memberOf(object, 'new_target');
  if (oldTarget === null || newTarget === null) return null;
  const linkPath = memberOf(object, 'link_path');
  if (linkPath !== null) return { kind: 'rewrite', linkPath, oldTarget, newTarget };
  const { operation: kind } = object;
  const sourcePath = memberOf(object, 'source_path');
  const targetPath = memberOf(object, 'target_path');
  if (sourcePath === null || targetPath === null || (kind !== 'move' && kind !== 'copy')) return null;
  const { new_directories: made } = object;
  const newDirectories = typeof made === 'number' ? made : 0;
  const replacedTarget = memberOf(object, 'replaced_target');
  return { kind, sourcePath, targetPath, oldTarget, newTarget, replacedTarget, newDirectories };
}

/** The surrogate as which Python writes a byte that is not UTF-8 (`surrogateescape`): its low part is the byte. */
const LONE_BYTE = /[\uDC80-\uDCFF]/u;
const LONE_BYTES_AND_OTHERS = /[\uDC80-\uDCFF]|[^\uDC80-\uDCFF]+/gu;

/** The raw text of a member; null when it is missing or blank. */
function memberOf(object: Readonly<Record<string, unknown>>, key: string): RawPath | null {
  const text = object[key];
  if (typeof text === 'string' && LONE_BYTE.test(text) && object[`${key}_b64`] === undefined) {
    return text.replaceAll(LONE_BYTES_AND_OTHERS, part =>
      LONE_BYTE.test(part) ? String.fromCharCode(part.charCodeAt(0) & 0xff) : rawOf(part),
    );
  }
  const raw = rawMember(object, key);
  return raw === undefined || raw.trim() === '' ? null : raw;
}

function objectOf(element: unknown): Record<string, unknown> | null {
  const isObject = typeof element === 'object' && element !== null && !Array.isArray(element);
  return isObject ? (element as Record<string, unknown>) : null;
}

/** The roots with those of migrations. A manifest without both may contain any place. */
function rootsOf(roots: unknown, migrations: unknown): string[] {
  const listed = Array.isArray(roots) ? roots.filter(root => typeof root === 'string') : [];
  if (!Array.isArray(migrations)) return listed;
  const moved = migrations.flatMap(migration => {
    const { from_root: from, to_root: to } = objectOf(migration) ?? {};
    return [from, to].filter(root => typeof root === 'string');
  });
  return [...listed, ...moved];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
