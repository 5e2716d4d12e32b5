// The rules by which targets are rewritten: prefixes of whole parts of paths, of which the first that fits is applied
// once.
import type { RawPath } from '../places/raw-path.ts';

/** A rule whose prefixes are raw and have no slashes at their ends; `to` is empty for the root. */
export interface RawRule {
  readonly from: RawPath;
  readonly to: RawPath;
}

/** The target that the first fitting rule makes, and that rule's place in the list; undefined when none fits. */
export function rewritten(target: RawPath, rules: readonly RawRule[]): { target: RawPath; rule: number } | undefined {
  for (const [rule, { from, to }] of rules.entries()) {
    if (target === from) return { target: to === '' ? '/' : to, rule };
    if (target.startsWith(from) && target[from.length] === '/') return { target: to + target.slice(from.length), rule };
  }
  return undefined;
}

export function withoutSlashes(prefix: string): string {
  let end = prefix.length;
  while (end > 0 && prefix[end - 1] === '/') end -= 1;
  return prefix.slice(0, end);
}
