// The shard that restores a part of a manifest, or previews that. It asks whether targets exist before it writes
// anything, because a question that is never answered makes another thread begin the part again.
import { reasonText } from '#kit/error-text';
import type { ManifestItem } from '../manifest/manifest-reader.ts';
import { lostBytes, MAX_TARGET_BYTES, type RawPath, resolved, shownPath } from '../places/raw-path.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { TargetLook } from '../walk/target-look.ts';
import { type Action, type Decision, decide, EntryError, pathsOf } from './decision.ts';
import { RestoredTree, type RestoredTreeOptions } from './restored-tree.ts';

const MAX_PATH_BYTES = 4_096;

export interface RestoreShardOptions extends RestoredTreeOptions {
  readonly overwrites: boolean;
  /** Whether links with missing targets are restored too. */
  readonly restoreBroken: boolean;
}

export interface RestoreRequest {
  /** null stands for an invalid element of the manifest. */
  readonly items: readonly (ManifestItem | null)[];
  readonly unreachable: readonly RawPath[];
  /** How many examples of each action are wanted at most. */
  readonly sampleLimit: number;
}

/** One element and what is done with it, in the wire form. */
export interface Sample {
  readonly action: Action;
  readonly link_path: string;
  /** null for a link that is removed. */
  readonly target: string | null;
  readonly current_target?: string | null;
  /** The bytes of members that are not UTF-8, by their names. */
  readonly raw_base64?: Readonly<Record<string, string>>;
}

interface PlacedSample extends Sample {
  /** The index in the part. */
  readonly index: number;
}

export interface RestoreError {
  readonly link_path: string;
  readonly error: string;
}

/** What is done with an element: an action, or why there is none. */
export type Fate = Action | 'invalid' | 'failed';

export interface RestoreAnswer {
  readonly counts: Readonly<Partial<Record<Fate | 'replaced_files', number>>>;
  readonly samples: readonly PlacedSample[];
  /** Why elements failed. */
  readonly errors: readonly RestoreError[];
  /** Directories whose content is unknown; targets in them were taken to exist. */
  readonly silent: readonly RestoreError[];
}

export function restoreShard(options: RestoreShardOptions, pulse: Pulse): (request: RestoreRequest) => RestoreAnswer {
  return request => {
    const tree = new RestoredTree(options, pulse);
    try {
      return new PartRestore(options, tree, request).run(pulse);
    } finally {
      tree.close();
    }
  };
}

type Prepared =
  | { readonly item: ManifestItem; readonly lacksTarget: boolean }
  | { readonly link: RawPath; readonly error: unknown }
  | null;

class PartRestore {
  readonly #options: RestoreShardOptions;
  readonly #tree: RestoredTree;
  readonly #request: RestoreRequest;
  readonly #counts: Partial<Record<Fate | 'replaced_files', number>> = {};
  readonly #samples: PlacedSample[] = [];
  readonly #errors: RestoreError[] = [];

  constructor(options: RestoreShardOptions, tree: RestoredTree, request: RestoreRequest) {
    this.#options = options;
    this.#tree = tree;
    this.#request = request;
  }

  run(pulse: Pulse): RestoreAnswer {
    const { items, unreachable } = this.#request;
    const silent: RestoreError[] = [];
    const targets = new TargetLook(pulse, unreachable, (directory, error) =>
      silent.push({ link_path: shownPath(directory), error: `its targets count as existing, for ${error}` }),
    );
    const prepared = items.map(item => this.#prepare(item, targets));
    for (const [index, each] of prepared.entries()) this.#restore(each, index);
    return { counts: this.#counts, samples: this.#samples, errors: this.#errors, silent };
  }

  #prepare(item: ManifestItem | null, targets: TargetLook): Prepared {
    if (item === null) return null;
    try {
      const checked = checkedItem(item);
      return { item: checked, lacksTarget: !this.#options.restoreBroken && this.#lacksTarget(checked, targets) };
    } catch (error) {
      return { link: firstPath(item), error };
    }
  }

  #lacksTarget(item: ManifestItem, targets: TargetLook): boolean {
    const [directory = ''] = pathsOf(item).map(path => this.#tree.directoryOf(path));
    if (!('kind' in item)) return targets.presence(directory, item.target) === 'missing';
    // A copy is removed even when its target is missing.
    return item.kind !== 'copy' && targets.presence(directory, item.oldTarget) === 'missing';
  }

  #restore(prepared: Prepared, index: number): void {
    if (prepared === null) this.#count('invalid');
    else if ('error' in prepared) this.#fail(prepared.link, prepared.error);
    else this.#carryOut(prepared, index);
  }

  #carryOut({ item, lacksTarget }: Extract<Prepared, { item: unknown }>, index: number): void {
    try {
      const decision = lacksTarget ? skipMissing(item) : this.#decide(item);
      for (const step of decision.steps) this.#tree.take(step);
      this.#count(decision.action);
      if (decision.steps.some(({ instead }) => instead.kind === 'file')) this.#count('replaced_files');
      if ((this.#counts[decision.action] ?? 0) <= this.#request.sampleLimit)
        this.#samples.push(sampleOf(decision, index));
      if (!lacksTarget && decision.action !== 'skip_existing') this.#removeMade(item);
    } catch (error) {
      this.#fail(firstPath(item), error);
    }
  }

  /** Removes directories that the repair created for the link, as far as they are empty now. */
  #removeMade(item: ManifestItem): void {
    if (!('kind' in item) || item.kind === 'rewrite' || item.newDirectories === 0) return;
    try {
      this.#tree.removeEmpty(item.targetPath, item.newDirectories);
    } catch (error) {
      const link_path = shownPath(item.targetPath);
      this.#errors.push({ link_path, error: `its directory is empty and cannot be removed: ${reasonText(error)}` });
    }
  }

  #decide(item: ManifestItem): Decision {
    const standing = pathsOf(item).map(path => this.#tree.standing(path));
    return decide(item, standing, this.#options.overwrites);
  }

  #fail(link: RawPath, error: unknown): void {
    this.#count('failed');
    this.#errors.push({ link_path: shownPath(link), error: reasonText(error) });
  }

  #count(what: Fate | 'replaced_files'): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }
}

/** The item with normalised paths. Throws an EntryError for a path or a target that no link can have. */
function checkedItem(item: ManifestItem): ManifestItem {
  if (!('kind' in item)) return { linkPath: checkedPath(item.linkPath), target: checkedTarget(item.target) };
  const targets = { oldTarget: checkedTarget(item.oldTarget), newTarget: checkedTarget(item.newTarget) };
  if (item.kind === 'rewrite') return { kind: item.kind, linkPath: checkedPath(item.linkPath), ...targets };
  return {
    kind: item.kind,
    sourcePath: checkedPath(item.sourcePath),
    targetPath: checkedPath(item.targetPath),
    ...targets,
    replacedTarget: item.replacedTarget === null ? null : checkedTarget(item.replacedTarget),
    newDirectories: item.newDirectories,
  };
}

function checkedPath(path: RawPath): RawPath {
  if (!path.startsWith('/')) throw new EntryError('its path is not absolute');
  if (path.length > MAX_PATH_BYTES || path.includes('\0'))
    throw new EntryError('its path is too long, or has a NUL in it');
  return resolved('/', path);
}

function checkedTarget(target: RawPath): RawPath {
  if (target.length > MAX_TARGET_BYTES || target.includes('\0'))
    throw new EntryError('its target is too long, or has a NUL in it');
  return target;
}

function firstPath(item: ManifestItem): RawPath {
  return pathsOf(item)[0] ?? '';
}

function skipMissing(item: ManifestItem): Decision {
  const target = 'kind' in item ? item.oldTarget : item.target;
  return { action: 'skip_missing_target', path: firstPath(item), target, present: { kind: 'nothing' }, steps: [] };
}

function sampleOf({ action, path, target, present }: Decision, index: number): PlacedSample {
  const hasCurrent = action === 'skip_existing' || action === 'overwrite';
  const current = present.kind === 'link' ? present.target : null;
  const raws = { link_path: path, target, ...(hasCurrent && { current_target: current }) };
  const lost = Object.entries(raws).flatMap(([name, raw]) => {
    const bytes = raw === null ? undefined : lostBytes(raw);
    return bytes === undefined ? [] : [[name, bytes]];
  });
  return {
    index,
    action,
    link_path: shownPath(path),
    target: target === null ? null : shownPath(target),
    ...(hasCurrent && { current_target: current === null ? null : shownPath(current) }),
    ...(lost.length > 0 && { raw_base64: Object.fromEntries(lost) }),
  };
}
