// What is to be done for one entry of a manifest, decided from what stands in its place. A restore, its dry run and a
// comparison all ask here, and so agree.
import type { ManifestChange, ManifestEntry, ManifestItem } from '../manifest/manifest-reader.ts';
import type { RawPath } from '../places/raw-path.ts';

/** What stands at a path. A link of a preview that another entry would make tells its target to `holds` alone. */
export type Standing =
  | { readonly kind: 'nothing' | 'directory' | 'file' }
  | { readonly kind: 'link'; readonly target: RawPath | null; holds(target: RawPath): boolean };

export type Action = 'create' | 'overwrite' | 'skip_unchanged' | 'skip_existing' | 'skip_missing_target';

/** A link is put in the place of what stands there, or is taken away. */
export interface Step {
  readonly path: RawPath;
  /** null takes the link away. */
  readonly target: RawPath | null;
  readonly instead: Standing;
}

export interface Decision {
  readonly action: Action;
  /** The path that a user is told of, and the target that it has afterwards; null when it is taken away. */
  readonly path: RawPath;
  readonly target: RawPath | null;
  readonly present: Standing;
  /** In this order; a link that moves back stands in its old place before it leaves its new one. */
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
 * Restores an entry, or undoes a change, from what stands at each of `pathsOf`. A link that still holds what the repair
 * wrote gets back what it was; any other counts as existing. Throws an EntryError where a directory stands in the
 * place.
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
  // While something else stands in its old place, the link stays in its new one.
  if (decision.action === 'skip_existing' || isBack(change, moved)) return decision;
  // What others have put in the new place is replaced on request, and never only taken away.
  if (!isOurs && (replacedTarget === null || moved.kind !== 'link')) return decision;
  const steps = [...decision.steps, { path: targetPath, target: replacedTarget, instead: moved }];
  return { ...decision, action: decision.action === 'create' ? 'create' : 'overwrite', steps };
}

/** Whether the place to which a link was moved or copied is again as it was before. */
function isBack({ replacedTarget }: Relocation, standing: Standing): boolean {
  return replacedTarget === null ? standing.kind === 'nothing' : holds(standing, replacedTarget);
}

function holds(standing: Standing, target: RawPath): boolean {
  return standing.kind === 'link' && standing.holds(target);
}
