// What anchors tie together in a YAML document: a change there would change what aliases elsewhere stand for. An anchor
// that no alias names ties nothing.
import { isPair, type Node, type Pair, visit, type YAMLMap } from 'yaml';
import { hasAnchor } from './yaml-places.ts';

export class YamlTies {
  readonly #root: YAMLMap;
  #named: ReadonlySet<string> | undefined;

  constructor(root: YAMLMap) {
    this.#root = root;
  }

  /** The value of an item with something tied in it; undefined for one that can be changed alone, as an alias can. */
  sharedNode(item: Pair | Node | null): Node | null | undefined {
    const node = (isPair(item) ? item.value : item) as Node | null;
    // The anchor of a key stands before what is taken for the member.
    const isNamed = isPair(item) && hasAnchor(item.key as Node);
    return isNamed || (node !== null && this.#isNamed(node)) ? node : undefined;
  }

  /** Whether an alias, or what one stands for, is in it. */
  isShared(node: Node | null): boolean {
    if (node === null) return false;
    let isFound = this.#isNamed(node);
    visit(node, {
      Alias() {
        isFound = true;
      },
    });
    return isFound;
  }

  /** Whether an alias may stand for the node or for something in it. */
  #isNamed(node: Node): boolean {
    let isFound = false;
    visit(node, {
      Node: (_key, inner) => {
        isFound ||= hasAnchor(inner) && this.#names.has(inner.anchor);
      },
    });
    return isFound;
  }

  /** What aliases name, wherever they stand. */
  get #names(): ReadonlySet<string> {
    this.#named ??= namesIn(this.#root);
    return this.#named;
  }
}

function namesIn(root: YAMLMap): ReadonlySet<string> {
  const names = new Set<string>();
  visit(root, {
    Alias(_key, { source }) {
      names.add(source);
    },
  });
  return names;
}
