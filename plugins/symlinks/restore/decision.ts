// What is done for one entry of a manifest, decided from what is at its path now. Restores, dry runs and comparisons
// all use this, so they agree.
import type { ManifestChange, ManifestEntry, ManifestItem } from '../manifest/manifest-reader.ts';
import type { RawPath } from '../places/raw-path.ts';

/** What is at a path. `target` is null for a link that a preview would have made; only `holds` knows its target. */
export type Standing =
  | { readonly kind: 'nothing' | 'directory' | 'file' }
  | { readonly kind: 'link'; readonly target: RawPath | null; holds(target: RawPath): boolean };

export type Action = 'create' | 'overwrite' | 'skip_unchanged' | 'skip_existing' | 'skip_missing_target';

/** A step puts a link at a path, in place of `instead`, or removes the link there. */
export interface Step {
  readonly path: RawPath;
  /** null removes the link. */
  readonly target: RawPath | null;
  readonly instead: Standing;
  /** The path of the link that moves here; its owner and group are kept. */
  readonly from?: RawPath;
}

export interface Decision {
  readonly action: Action;
  /** The path that is reported; `target` is the target of its link afterwards, null when the link is removed. */
  readonly path: RawPath;
  readonly target: RawPath | null;
  readonly present: Standing;
  /** The steps in order: a link that moves back is put at its old path before it is removed from its new one. */
  readonly steps: readonly Step[];
}

/** The entry cannot be restored. The message says why. */
export class EntryError extends Error {}

/** The paths on which a decision depends. */
export function pathsOf(item: ManifestItem): readonly RawPath[] {
  if (!('kind' in item)) return [item.linkPath];
  return item.kind === 'rewrite' ? [item.linkPath] : [item.sourcePath, item.targetPath];
}

/**
 * How to restore an entry, or undo a change, from what is at each of `pathsOf`. A link that is still as the repair made
 * it gets its old target back; any other counts as existing. Throws an EntryError when a directory is in the way.
 */
export function decide(item: ManifestItem, standing: readonly Standing[], overwrite: boolean): Decision {
  const [first = NOTHING, second = NOTHING] = standing;
  if (!('kind' in item)) return decideEntry(item, first, overwrite);
  if (item.kind !== 'rewrite')
    return item.kind === 'copy' ? undoCopy(item, second, overwrite) : undoMove(item, first, second, overwrite);
  const { linkPath, oldTarget, newTarget } = item;
  return decideEntry({ linkPath, target: oldTarget }, first, overwrite || holds(first, newTarget));
}

function decideEntry({ linkPath, target }: ManifestEntry, present: Standing, overwrite: boolean): Decision {
  const decision = (action: Action, steps: readonly Step[]): Decision => ({
    action,
    path: linkPath,
    target,
    present,
    steps,
  });
  const step = { path: linkPath, target, instead: present };
  if (present.kind === 'nothing') return decision('create', [step]);
  if (holds(present, target)) return decision('skip_unchanged', []);
  if (!overwrite) return decision('skip_existing', []);
  if (present.kind === 'directory') throw new EntryError('a directory stands there');
  return decision('overwrite', [step]);
}

type Relocation = Exclude<ManifestChange, { kind: 'rewrite' }>;

const NOTHING: Standing = { kind: 'nothing' };

function undoCopy(change: Relocation, copy: Standing, overwrite: boolean): Decision {
  const { targetPath: path, replacedTarget: target } = change;
  const decision = { path, target, present: copy };
  if (isBack(change, copy)) return { ...decision, action: 'skip_unchanged', steps: [] };
  const isOurs = holds(copy, change.newTarget);
  const mayReplace = overwrite && target !== null && copy.kind === 'link';
  if (!isOurs && !mayReplace) return { ...decision, action: 'skip_existing', steps: [] };
  return { ...decision, action: 'overwrite', steps: [{ path, target, instead: copy }] };
}

function undoMove(change: Relocation, source: Standing, moved: Standing, overwrite: boolean): Decision {
  const { sourcePath, targetPath, oldTarget, newTarget, replacedTarget } = change;
  const isOurs = holds(moved, newTarget);
  if (!isOurs && !isBack(change, moved) && !overwrite)
    return { action: 'skip_existing', path: targetPath, target: replacedTarget, present: moved, steps: [] };
  const decision = decideEntry({ linkPath: sourcePath, target: oldTarget }, source, overwrite);
  // While something else is at its old path, the link stays at its new one.
  if (decision.action === 'skip_existing' || isBack(change, moved)) return decision;
  // An entry at the new path that is not from the repair may be replaced on request, but is never just removed.
  if (!isOurs && (replacedTarget === null || moved.kind !== 'link')) return decision;
  const put = isOurs ? decision.steps.map(step => ({ ...step, from: targetPath })) : decision.steps;
  const steps = [...put, { path: targetPath, target: replacedTarget, instead: moved }];
  return { ...decision, action: decision.action === 'create' ? 'create' : 'overwrite', steps };
}

/** Whether the path to which a link was moved or copied is as it was before. */
function isBack({ replacedTarget }: Relocation, standing: Standing): boolean {
  return replacedTarget === null ? standing.kind === 'nothing' : holds(standing, replacedTarget);
}

function holds(standing: Standing, target: RawPath): boolean {
  return standing.kind === 'link' && standing.holds(target);
}
