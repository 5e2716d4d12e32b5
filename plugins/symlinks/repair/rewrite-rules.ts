// The rules by which targets are rewritten. A prefix matches whole parts of a path; the first rule that matches is
// applied once.
import type { RawPath } from '../places/raw-path.ts';

/** A rule with raw prefixes without trailing slashes; `to` is empty for the root directory. */
export interface RawRule {
  readonly from: RawPath;
  readonly to: RawPath;
}

/** The rewritten target and the index of the first rule that matches; undefined when none matches. */
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
