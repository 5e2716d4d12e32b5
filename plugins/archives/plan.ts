// The plan of what will be written, checked as a whole: no file system confuses two of its names, no file is setuid or
// setgid, and no link leads out of the folder.
import type { Content } from './archive-tree.ts';
import type { LinkPlace } from './link-target.ts';
import { quoted, refuseEntry } from './refusal.ts';
import type { Taken } from './taking.ts';

export interface PlannedLink {
  readonly path: string;
  readonly target: string;
}

type Planned =
  | { readonly kind: 'directory'; readonly name: string; readonly children: Map<string, Planned> }
  | { readonly kind: 'file'; readonly name: string }
  | { readonly kind: 'link'; readonly name: string; readonly target: string };
type PlannedDirectory = Extract<Planned, { kind: 'directory' }>;

const SET_ID = 0o6000;
/** As many links as the kernel follows. */
const MAX_LINKS = 40;
/** Limit of steps for all links together, since each link can lead through others. */
const MAX_STEPS = 10_000_000;

export class Plan {
  /** Each directory comes after its parent. */
  readonly directories: string[] = [];
  /** The paths of each content; several if there are hard links to it. */
  readonly files = new Map<Content, string[]>();
  readonly links: PlannedLink[] = [];
  /** Bytes of all files; a content counts at each of its paths. */
  bytes = 0;
  fileCount = 0;
  readonly #root: PlannedDirectory = { kind: 'directory', name: '', children: new Map() };
  #steps = 0;

  /** Adds a node with everything below it. `targetOf` gives the target of a link for its new place. */
  add({ node, from, to }: Taken, targetOf: (target: string, place: LinkPlace) => string): void {
    const path = to.join('/');
    if (path.includes('\\')) refuseEntry(path, 'holds a backslash');
    if (node.kind === 'directory') {
      this.#directory(to);
      for (const child of node.children.values())
        this.add({ node: child, from: [...from, child.name], to: [...to, child.name] }, targetOf);
      return;
    }
    const name = to.at(-1);
    if (name === undefined) refuseEntry(node.name, 'is no directory, so it cannot become the folder');
    if (node.kind === 'device') refuseEntry(path, 'is a device, a FIFO or the like');
    const parent = this.#directory(to.slice(0, -1));
    if (node.kind === 'link') {
      const target = targetOf(node.target, { from, to });
      put(parent, { kind: 'link', name, target }, path);
      this.links.push({ path, target });
      return;
    }
    const { content } = node;
    if ((content.mode & SET_ID) !== 0) refuseEntry(path, 'would run with the rights of its owner');
    put(parent, { kind: 'file', name }, path);
    const places = this.files.get(content);
    if (places === undefined) this.files.set(content, [path]);
    else places.push(path);
    this.bytes += content.bytes;
    this.fileCount += 1;
  }

  /** Refuses links that would lead out of the folder when followed, also through other links. */
  checkLinks(): void {
    for (const { path, target } of this.links) {
      const way = path.split('/').slice(0, -1);
      this.#follow(path, [...way, ...target.split('/')]);
    }
  }

  #follow(path: string, way: string[]): void {
    const position = new Position(this.#root);
    let links = 0;
    const rest = way.toReversed();
    for (let part = rest.pop(); part !== undefined; part = rest.pop()) {
      this.#steps += 1;
      if (this.#steps > MAX_STEPS) refuseEntry(path, 'leads through too many links');
      if (part === '' || part === '.') continue;
      if (part === '..') {
        if (!position.up()) refuseEntry(path, 'is a link that leads out of the folder');
        continue;
      }
      const target = position.down(part);
      if (target === undefined) continue;
      links += 1;
      if (links > MAX_LINKS) refuseEntry(path, 'is a link that leads through too many others');
      rest.push(...target.split('/').toReversed());
    }
  }

  #directory(parts: readonly string[]): PlannedDirectory {
    let directory = this.#root;
    for (const [index, name] of parts.entries()) {
      const path = parts.slice(0, index + 1).join('/');
      const there = directory.children.get(folded(name));
      if (there?.name === name && there.kind === 'directory') {
        directory = there;
        continue;
      }
      const made: PlannedDirectory = { kind: 'directory', name, children: new Map() };
      put(directory, made, path);
      this.directories.push(path);
      directory = made;
    }
    return directory;
  }
}

/** Where the parts of a path have led so far. */
class Position {
  readonly #directories: PlannedDirectory[];
  /** How many parts deep it is below a directory that does not exist, where only names count. */
  #absent = 0;

  constructor(root: PlannedDirectory) {
    this.#directories = [root];
  }

  /** False at the root, which it does not leave. */
  up(): boolean {
    if (this.#absent > 0) this.#absent -= 1;
    else if (this.#directories.length > 1) this.#directories.pop();
    else return false;
    return true;
  }

  /** Enters a directory, also one that does not exist; a link is not entered, but its target returned. */
  down(name: string): string | undefined {
    const next = this.#absent > 0 ? undefined : this.#directories.at(-1)?.children.get(folded(name));
    if (next?.name !== name || next.kind === 'file') this.#absent += 1;
    else if (next.kind === 'directory') this.#directories.push(next);
    else return next.target;
    return undefined;
  }
}

function put(parent: PlannedDirectory, child: Planned, path: string): void {
  const key = folded(child.name);
  const there = parent.children.get(key);
  if (there?.name === child.name) refuseEntry(path, 'is there twice');
  if (there !== undefined) refuseEntry(path, `has the name of ${quoted(there.name)} where case does not count`);
  parent.children.set(key, child);
}

/** Gives the same text for names that some file system takes for equal. */
function folded(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
