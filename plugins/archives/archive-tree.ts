// The content of an archive, or of the layers of an image together: a tree in which each entry has the place that its
// name says, whether it is wanted or not.
import { type ArchiveEntry, partsOf } from './entry.ts';
import { quoted, refuseEntry } from './refusal.ts';

/** The content of a file, which hard links share. */
export interface Content {
  /** Index of the archive, and index of the entry in it. */
  readonly archive: number;
  readonly index: number;
  readonly bytes: number;
  readonly mode: number;
}

export type TreeNode = Directory | Leaf;

export interface Directory {
  readonly kind: 'directory';
  readonly name: string;
  /** The last archive that has the directory. */
  archive: number;
  readonly children: Map<string, TreeNode>;
}

type Leaf = { readonly name: string; readonly archive: number } & (
  | { readonly kind: 'file'; readonly content: Content }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'device' }
);

const WHITEOUT = '.wh.';
/** A file of this name hides everything that lower layers have in its directory. */
const OPAQUE = '.wh..wh..opq';

export class ArchiveTree {
  readonly root: Directory = { kind: 'directory', name: '', archive: 0, children: new Map() };
  /** Whether the archives are layers of an image. */
  readonly #areLayers: boolean;

  constructor(areLayers: boolean) {
    this.#areLayers = areLayers;
  }

  /** Adds the entries of one archive, which replace entries of the archives before. */
  add(archive: number, entries: readonly ArchiveEntry[], isRooted: boolean): void {
    const placed = entries.map(entry => ({ entry, parts: partsOf(entry.name, isRooted) }));
    const isWhiteout = ({ parts }: { parts: string[] }) => this.#areLayers && parts.at(-1)?.startsWith(WHITEOUT);
    for (const { parts } of placed.filter(isWhiteout)) this.#hide(parts, archive);
    for (const one of placed) if (!isWhiteout(one)) this.#place(one.entry, one.parts, archive, isRooted);
  }

  /** Removes the top directory if it holds everything, and puts its children in its place. */
  leaveTopOff(): void {
    const [top, ...others] = this.root.children.values();
    if (top?.kind !== 'directory' || others.length > 0) return;
    this.root.children.clear();
    for (const [name, child] of top.children) this.root.children.set(name, child);
  }

  find(parts: readonly string[]): TreeNode | undefined {
    let node: TreeNode | undefined = this.root;
    for (const part of parts) {
      if (node?.kind !== 'directory') return undefined;
      node = node.children.get(part);
    }
    return node;
  }

  #hide(parts: readonly string[], archive: number): void {
    const directory = this.find(parts.slice(0, -1));
    if (directory?.kind !== 'directory') return;
    const name = parts.at(-1) ?? '';
    if (name === OPAQUE) directory.children.clear();
    else directory.children.delete(name.slice(WHITEOUT.length));
    directory.archive = archive;
  }

  #place(entry: ArchiveEntry, parts: readonly string[], archive: number, isRooted: boolean): void {
    const name = parts.at(-1);
    if (name === undefined) {
      if (entry.kind !== 'directory') refuseEntry(entry.name, 'stands for the folder itself, but is no directory');
      return;
    }
    const parent = this.#directoryFor(entry, parts.slice(0, -1), archive);
    const there = parent.children.get(name);
    const isKept = there?.kind === 'directory' && entry.kind === 'directory';
    if (there?.archive === archive && !isKept) refuseEntry(entry.name, 'is there twice');
    if (isKept) there.archive = archive;
    else parent.children.set(name, this.#nodeOf(entry, name, archive, isRooted));
  }

  /** The directory at a path. Missing directories are made. */
  #directoryFor(entry: ArchiveEntry, parts: readonly string[], archive: number): Directory {
    let directory = this.root;
    for (const part of parts) {
      let next = directory.children.get(part);
      if (next !== undefined && next.kind !== 'directory') {
        if (next.archive === archive) refuseEntry(entry.name, `lies under ${quoted(next.name)}, which is no directory`);
        next = undefined;
      }
      if (next === undefined) {
        next = { kind: 'directory', name: part, archive, children: new Map() };
        directory.children.set(part, next);
      }
      next.archive = archive;
      directory = next;
    }
    return directory;
  }

  #nodeOf(entry: ArchiveEntry, name: string, archive: number, isRooted: boolean): TreeNode {
    switch (entry.kind) {
      case 'directory':
        return { kind: 'directory', name, archive, children: new Map() };
      case 'file': {
        const { index, bytes, mode } = entry;
        return { kind: 'file', name, archive, content: { archive, index, bytes, mode } };
      }
      case 'hardlink': {
        const other = this.find(partsOf(entry.target, isRooted));
        if (other?.kind !== 'file')
          refuseEntry(entry.name, `is a hard link to ${quoted(entry.target)}, which is no file before it`);
        return { kind: 'file', name, archive, content: other.content };
      }
      case 'link':
        return { kind: 'link', name, archive, target: entry.target };
      case 'device':
        return { kind: 'device', name, archive };
    }
  }
}
