// The shard that carries out a plan, directory by directory. A link is changed only if it still is as in the plan.
import { reasonText } from '#kit/error-text';
import { HeldDirectory, OtherFileSystem } from '../places/held-directory.ts';
import { joined, type RawPath, rawMember } from '../places/raw-path.ts';
import type { Pulse } from '../tasks/pulse.ts';
import type { PlanHead } from './plan.ts';

export interface ApplyGroup {
  readonly head: PlanHead;
  /** The lines of the changes. */
  readonly lines: readonly string[];
}

export interface ApplyRequest {
  readonly groups: readonly ApplyGroup[];
}

/** `gone` means that a directory is on another file system now, so nothing more may be changed. */
export type Outcome = 'done' | 'changed' | 'existing' | 'gone' | { readonly error: string };

export interface ApplyShardOptions {
  readonly runId: string;
  readonly overwrites: boolean;
}

interface Change {
  readonly name: RawPath;
  readonly oldTarget: RawPath;
  readonly newTarget: RawPath;
  readonly replaced: RawPath | undefined;
  readonly copies: boolean;
}

/** Makes the function that carries out requests and returns the outcome of each line, in order. */
export function applyShard(options: ApplyShardOptions, pulse: Pulse): (request: ApplyRequest) => Outcome[] {
  return ({ groups }) => groups.flatMap(group => applyGroup(group, options, pulse));
}

function applyGroup({ head, lines }: ApplyGroup, options: ApplyShardOptions, pulse: Pulse): Outcome[] {
  const held: HeldDirectory[] = [];
  const hold = (directory: HeldDirectory): HeldDirectory => {
    held.push(directory);
    return directory;
  };
  try {
    const source = hold(HeldDirectory.open(head.directory, head.device));
    const { move } = head;
    const destination = move && hold(HeldDirectory.make(joined(move.to, move.below), modelIn(move), move.toDevice));
    return lines.map(line => {
      pulse.beat();
      try {
        const change = changeOf(line);
        return destination === undefined
          ? rewrite(source, change, options)
          : moveLink(source, destination, change, options);
      } catch (error) {
        return { error: reasonText(error) };
      }
    });
  } catch (error) {
    return lines.map(() => (error instanceof OtherFileSystem ? 'gone' : { error: reasonText(error) }));
  } finally {
    for (const directory of held) directory.close();
  }
}

function rewrite(
  directory: HeldDirectory,
  { name, oldTarget, newTarget }: Change,
  { runId }: ApplyShardOptions,
): Outcome {
  const entry = directory.entry(name);
  const isOld = () => directory.target(name) === oldTarget;
  if (entry === undefined) return 'changed';
  return directory.place(name, newTarget, entry, runId, isOld) ? 'done' : 'changed';
}

function moveLink(
  source: HeldDirectory,
  destination: HeldDirectory,
  { name, oldTarget, newTarget, replaced, copies }: Change,
  { runId, overwrites }: ApplyShardOptions,
): Outcome {
  const entry = source.entry(name);
  const isOld = () => source.target(name) === oldTarget;
  if (entry === undefined || !isOld()) return 'changed';
  const isFree = () =>
    replaced === undefined ? destination.entry(name) === undefined : destination.target(name) === replaced;
  if (!isFree()) return overwrites ? 'changed' : 'existing';
  if (!copies && newTarget === oldTarget && source.stats.dev === destination.stats.dev && newTarget !== replaced) {
    source.moveTo(name, destination);
    return 'done';
  }
  if (!destination.place(name, newTarget, entry, runId, () => isOld() && isFree())) return 'changed';
  if (!copies) source.remove(name);
  return 'done';
}

/** The model of a new directory below `to` is the same path below `from`; for any other, the root `from`. */
function modelIn({ from, to }: NonNullable<PlanHead['move']>): (real: RawPath) => RawPath {
  return real => (real.startsWith(`${to}/`) ? joined(from, real.slice(to.length + 1)) : from);
}

function changeOf(text: string): Change {
  const line = JSON.parse(text) as Record<string, unknown>;
  const place = rawMember(line, 'link_path') ?? rawMember(line, 'source_path') ?? '';
  return {
    name: place.slice(place.lastIndexOf('/') + 1),
    oldTarget: rawMember(line, 'old_target') ?? '',
    newTarget: rawMember(line, 'new_target') ?? '',
    replaced: rawMember(line, 'replaced_target'),
    copies: line.operation === 'copy',
  };
}
