// Selects the wanted parts of an archive and the places that they get.
import type { ArchiveTree, TreeNode } from './archive-tree.ts';
import type { Taking } from './contract.ts';

/** A node of the tree, its path there, and its path in the target. */
export interface Taken {
  readonly node: TreeNode;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** One `Taking`, with its paths in parts. */
interface Wish {
  /** The path in the archive without its last part. */
  readonly above: readonly string[];
  /** The pieces of the last part between its asterisks; undefined when the root itself is wanted. */
  readonly last: readonly string[] | undefined;
  readonly to: readonly string[];
}

export class Takings {
  readonly #wishes: readonly Wish[];

  constructor(take: readonly Taking[]) {
    this.#wishes = take.map(({ from, to }) => {
      const parts = split(from);
      return { above: parts.slice(0, -1), last: parts.at(-1)?.split('*'), to: split(to) };
    });
  }

  of(tree: ArchiveTree): Taken[] {
    return this.#wishes.flatMap(wish => {
      const above = tree.find(wish.above);
      if (above?.kind !== 'directory') return [];
      if (wish.last === undefined) return [{ node: above, from: [], to: wish.to }];
      const found = [...above.children.values()].filter(({ name }) => fits(name, wish.last ?? []));
      return found.map(node => ({ node, from: [...wish.above, node.name], to: placeOf(node.name, wish) }));
    });
  }

  /** The path in the target of a path of the archive; undefined when it is not wanted. */
  placeOf(path: readonly string[]): readonly string[] | undefined {
    for (const wish of this.#wishes) {
      const depth = wish.above.length + (wish.last === undefined ? 0 : 1);
      const name = path[wish.above.length] ?? '';
      const isBelow = path.length >= depth && wish.above.every((part, index) => part === path[index]);
      if (!isBelow || (wish.last !== undefined && !fits(name, wish.last))) continue;
      const start = wish.last === undefined ? wish.to : placeOf(name, wish);
      return [...start, ...path.slice(depth)];
    }
    return undefined;
  }
}

function placeOf(name: string, { last, to }: Wish): readonly string[] {
  return last !== undefined && last.length > 1 ? [...to, name] : to;
}

/** Whether the pieces occur in the name one after the other, the first at its beginning and the last at its end. */
function fits(name: string, pieces: readonly string[]): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let place = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, place);
    if (found < 0) return false;
    place = found + piece.length;
  }
  return name.length - last.length >= place && name.endsWith(last);
}

function split(path: string): string[] {
  return path.split('/').filter(part => part !== '');
}
