// Finds the nodes of a YAML document that aliases stand for: a change in one would change the aliases too. An anchor
// that no alias names ties nothing.
import { isPair, type Node, type Pair, visit, type YAMLMap } from 'yaml';
import { hasAnchor } from './yaml-places.ts';

export class YamlTies {
  readonly #root: YAMLMap;
  #named: ReadonlySet<string> | undefined;

  constructor(root: YAMLMap) {
    this.#root = root;
  }

  /**
   * The value of an item that an alias may stand for, as a whole or in part; undefined for one that can be changed
   * alone.
   */
  sharedNode(item: Pair | Node | null): Node | null | undefined {
    const node = (isPair(item) ? item.value : item) as Node | null;
    // An anchor before a member is the anchor of its key.
    const isNamed = isPair(item) && hasAnchor(item.key as Node);
    return isNamed || (node !== null && this.#isNamed(node)) ? node : undefined;
  }

  /** Whether the node holds an alias, or something that an alias stands for. */
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

  /** The anchors that aliases name anywhere in the document. */
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
