// What an update will leave in the file and in memory, worked out before anything is done.
import type { ConfigObject, ConfigUpdate, NamedBlock } from '../contract/config.ts';
import { deepEqual } from '../kit/deep-equal.ts';
import { valueAt } from '../kit/value-at.ts';
import type { CurrentConfig, Layered } from './current.ts';
import {
  type ConfigEdit,
  type ConfigPath,
  changedPaths,
  dotted,
  openedAt,
  placeOf,
  startsWith,
  withEdits,
  withoutPaths,
} from './layers.ts';
import { settleSecrets } from './moved-secrets.ts';
import { repeatedLists, storedEdits, withUnshownItems } from './stored.ts';

export interface PlannedUpdate {
  readonly edits: readonly ConfigEdit[];
  readonly moves: NonNullable<ConfigUpdate['moves']>;
  /** Whether the file is changed; memory alone otherwise. */
  readonly persist: boolean;
}

export interface UpdatePlan {
  /** The edits that have an effect. */
  readonly own: readonly ConfigEdit[];
  /** The edits in memory only, those that stay from earlier updates among them. */
  readonly overlay: readonly ConfigEdit[];
  /** What will be in force. */
  readonly next: Layered;
  /** The edits of the file, and what it then holds. */
  readonly written: readonly ConfigEdit[];
  readonly stored: ConfigObject;
  /** Whether the file is changed by anything but moves. */
  readonly isPersisted: boolean;
  readonly warnings: readonly string[];
  /** Whether the environment will have a value for what is edited. */
  isOverridden(edit: ConfigEdit): boolean;
}

export function planUpdate(
  { edits, moves, persist }: PlannedUpdate,
  current: CurrentConfig,
  file: ConfigObject,
): UpdatePlan {
  const effective = current.effective();
  const { open: shown, overrides, blocks, place } = effective;
  const overriddenBy = (variables: readonly ConfigEdit[]) => (edit: ConfigEdit) =>
    variables.some(override => startsWith(override.path, edit.path));
  const isOverridden = overriddenBy(overrides);
  /** An edit that merely repeats a value of the environment, or of memory above it, has no effect. */
  const isOwn = (edit: ConfigEdit) =>
    !isOverridden(edit) || changedPaths(valueAt(shown, edit.path), edit.value).length > 0;
  const own = edits.filter(isOwn);
  if (!persist) {
    const overlay = [...withoutPaths(current.overlay, edits.map(pathOf)), ...edits];
    const next = current.layered(file, overlay);
    return { own, overlay, next, written: [], stored: file, isPersisted: false, warnings: [], isOverridden };
  }
  const lower = current.withoutMemory();
  const fileMoves = movesIn(file, moves);
  const moved = withEdits(file, fileMoves) as ConfigObject;
  const alone = aloneInMemory(blocks, lower.root, own);
  const isAlone = ({ path }: ConfigEdit) => alone.some(block => isBelow(path, block.path));
  const inMemory = own.filter(isAlone);
  const saved = own.filter(edit => !isAlone(edit));
  const settled = settleSecrets(saved, { file: moved, shown, overrides, place });
  const changes = storedEdits(settled.saved, { file: moved, shown: lower.open, overrides });
  const paths = own.map(pathOf);
  const left = withoutPaths(openedAt(current.overlay, paths, lower.root), paths);
  const overlay = [...left, ...inMemory, ...settled.inMemory];
  const stored = withEdits(moved, changes) as ConfigObject;
  const next = current.layered(stored, overlay);
  const whole = withUnshownItems(changes, { file: moved, misfits: lower.misfits, place });
  const wholeStored = whole === changes ? stored : (withEdits(moved, whole) as ConfigObject);
  // A list that is full has no room for the items that were not shown.
  const isWhole = whole === changes || deepEqual(current.layered(wholeStored, overlay).root, next.root);
  const namesOfAlone = alone.filter(({ path }) => inMemory.some(edit => isBelow(edit.path, path)));
  return {
    own,
    overlay,
    next,
    written: [...fileMoves, ...(isWhole ? whole : changes)],
    stored: isWhole ? wholeStored : stored,
    isPersisted: saved.length > 0 || inMemory.length === 0,
    warnings: [
      ...settled.warnings,
      ...repeatedLists(own, overrides).map(
        ({ path, variable }) => `${dotted(path)} comes from ${variable}; change it there`,
      ),
      ...namesOfAlone.map(
        ({ processName }) =>
          `${processName} is in memory alone, and so is this change; save its whole block to keep both`,
      ),
    ],
    // By what the variables are once it is saved: one for an empty object is then for its new members.
    isOverridden: overriddenBy(next.overrides),
  };
}

/**
 * The blocks that exist in memory alone and that the edits do not name either: a part of such a block would be no block
 * in the file, and lost at the next start.
 */
function aloneInMemory(
  blocks: readonly NamedBlock[],
  lower: Readonly<ConfigObject>,
  edits: readonly ConfigEdit[],
): NamedBlock[] {
  return blocks.filter(({ path }) => {
    const name = [...path, 'process_name'];
    return valueAt(lower, name) === undefined && !edits.some(edit => placeOf(edit.path) === placeOf(name));
  });
}

function isBelow(path: ConfigPath, place: ConfigPath): boolean {
  return path.length > place.length && startsWith(path, place);
}

/** The edits of the file that move its members; each says where the text of the value is. */
function movesIn(file: ConfigObject, moves: PlannedUpdate['moves']): ConfigEdit[] {
  return moves.flatMap(({ from, to }) => {
    const value = valueAt(file, from);
    return value === undefined
      ? []
      : [
          { path: to, value, from },
          { path: from, value: undefined },
        ];
  });
}

function pathOf({ path }: ConfigEdit): ConfigPath {
  return path;
}
