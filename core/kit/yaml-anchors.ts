// What an anchor ties together in a YAML document: a change of it would change what aliases elsewhere stand for.
import { isPair, type Node, type Pair, visit } from 'yaml';

/** The value of an item that has an anchor in it; undefined for one that can be changed alone, as an alias can. */
export function sharedNode(item: Pair | Node | null): Node | null | undefined {
  const node = (isPair(item) ? item.value : item) as Node | null;
  const isNamed = isPair(item) && hasAnchor(item.key as Node);
  return isNamed || (node !== null && hasAnchor(node)) ? node : undefined;
}

/** Whether an alias may stand for the node or for something in it. */
function hasAnchor(node: Node): boolean {
  let isFound = false;
  visit(node, {
    Node(_key, inner) {
      isFound ||= 'anchor' in inner && inner.anchor !== undefined;
    },
  });
  return isFound;
}

/** Whether an anchor or an alias is in it. */
export function isShared(node: Node | null): boolean {
  if (node === null) return false;
  let isFound = hasAnchor(node);
  visit(node, {
    Alias() {
      isFound = true;
    },
  });
  return isFound;
}
