// What a run does with one link, decided from the state before the run. Dry runs and real runs both use these
// functions, so they decide alike.
import { accessSync, constants, lstatSync } from 'node:fs';
import { reasonText } from '#kit/error-text';
import { diskPath, isWithin, joined, MAX_TARGET_BYTES, type RawPath, resolved } from '../places/raw-path.ts';
import type { Pulse } from '../tasks/pulse.ts';
import type { TargetLook } from '../walk/target-look.ts';
import type { Link } from '../walk/visit.ts';
import { type RawRule, rewritten } from './rewrite-rules.ts';

export interface RewriteOptions {
  readonly rules: readonly RawRule[];
  /** Real paths of the roots. */
  readonly roots: readonly RawPath[];
  /** Whether links with missing targets are treated like others. */
  readonly includeBroken: boolean;
}

export type PlannedRewrite =
  | { readonly is: 'unchanged' | 'broken' }
  | { readonly is: 'error'; readonly error: string }
  | { readonly is: 'rewrite'; readonly target: RawPath; readonly rule: number };

export function plannedRewrite(
  directory: RawPath,
  { name, target }: Link,
  { rules, includeBroken }: RewriteOptions,
  targets: TargetLook,
): PlannedRewrite {
  const found = rewritten(target, rules);
  if (found === undefined || found.target === target) return { is: 'unchanged' };
  if (!includeBroken && targets.presence(directory, target) === 'missing') return { is: 'broken' };
  const error = targetFault(directory, found.target, joined(directory, name));
  return error === undefined ? { is: 'rewrite', ...found } : { is: 'error', error };
}

/** The target of the link after all rewrites. */
export function targetAfterRewrites(
  directory: RawPath,
  link: Link,
  options: RewriteOptions,
  targets: TargetLook,
): RawPath {
  if (!options.roots.some(root => isWithin(directory, root))) return link.target;
  const planned = plannedRewrite(directory, link, options, targets);
  return planned.is === 'rewrite' ? planned.target : link.target;
}

/** Why a link at `place`, which is in `directory`, cannot have the target; undefined when it can. */
export function targetFault(directory: RawPath, target: RawPath, place: RawPath): string | undefined {
  if (target.length > MAX_TARGET_BYTES) return `its target would be longer than ${MAX_TARGET_BYTES} bytes`;
  return resolved(directory, target) === place ? 'it would point at itself' : undefined;
}

/** The number of the file system of a directory, or why nothing can be written into the directory. */
export function deviceToWriteOn(directory: RawPath, pulse: Pulse): number | { readonly obstacle: string } {
  pulse.beat();
  try {
    accessSync(diskPath(directory), constants.W_OK | constants.X_OK);
    return lstatSync(diskPath(directory)).dev;
  } catch (error) {
    return { obstacle: reasonText(error) };
  }
}
