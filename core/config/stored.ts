// Works out what the file is to hold of an update: what the user changed, and neither defaults nor values of the
// environment.
import { deepEqual } from '../kit/deep-equal.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import type { EnvironmentEdit } from './environment.ts';
import type { Misfit } from './fit.ts';
import { type ConfigEdit, type ConfigPath, own, placeOf, startsWith } from './layers.ts';
import type { Place } from './marks.ts';

/** What lies below memory: the file as it is, and what it shows with defaults and the environment. */
export interface StoredLayers {
  readonly file: unknown;
  readonly shown: unknown;
  readonly overrides: readonly EnvironmentEdit[];
}

/**
 * The edits of the file that an update amounts to. A value that equals the shown one is left as the file has it, at any
 * depth, unless the file's own value does not fit and a stand-in is shown.
 */
export function storedEdits(edits: readonly ConfigEdit[], { file, shown, overrides }: StoredLayers): ConfigEdit[] {
  // A value of the file where an object belongs is replaced by an object.
  const wrong = edits.flatMap(({ path, value }) => (value === undefined ? [] : wrongAbove(path, file)));
  const objects = new Map(wrong.map(path => [placeOf(path), { path, value: {} }]));
  const stored = edits.flatMap(({ path, value }) => {
    const before = valueAt(file, path);
    const near = overrides.filter(edit => startsWith(edit.path, path) || startsWith(path, edit.path));
    const after = value === undefined ? undefined : storedValue(value, before, valueAt(shown, path), path, near);
    return deepEqual(before, after) ? [] : [{ path, value: after }];
  });
  return [...objects.values(), ...stored];
}

/**
 * The edits, whose lists keep the items that were not shown because they do not fit: a client that sends such a list
 * back knows nothing of them, and their content may stand nowhere else. Only items with an identity are kept, until one
 * with the same identity is sent. The same array where nothing is kept.
 */
export function withUnshownItems(
  edits: readonly ConfigEdit[],
  { file, misfits, place }: { file: unknown; misfits: readonly Misfit[]; place: Place },
): readonly ConfigEdit[] {
  const unshown = misfits.filter(({ standIn }) => standIn === 'items');
  const result = edits.map(edit => {
    const { path, value } = edit;
    const before = valueAt(file, path);
    const ofList = unshown.filter(misfit => startsWith(misfit.path, path));
    if (ofList.length === 0 || !Array.isArray(value) || !Array.isArray(before)) return edit;
    const identity = place.at(path).item().identityKey();
    if (identity === undefined) return edit;
    const indexes = new Set(ofList.map(misfit => Number(misfit.path[path.length])));
    const sent = new Set(value.map(item => own(item, identity)));
    const items: unknown[] = [...value];
    for (const [index, item] of before.entries())
      if (indexes.has(index) && !sent.has(own(item, identity))) items.splice(index, 0, item);
    return items.length === value.length ? edit : { path, value: items };
  });
  return result.every((edit, index) => edit === edits[index]) ? edits : result;
}

/** Paths above this one at which the file has something else than an object: one at most. */
function wrongAbove(path: ConfigPath, file: unknown): ConfigPath[] {
  const above = [...path.keys()].map(depth => path.slice(0, depth));
  return above.filter(at => valueAt(file, at) !== undefined && !isObject(valueAt(file, at)));
}

/** The overriding lists of which an edit repeats a part; such an edit is not stored. */
export function repeatedLists(edits: readonly ConfigEdit[], overrides: readonly EnvironmentEdit[]): EnvironmentEdit[] {
  return overrides.filter(override =>
    edits.some(({ path, value }) => {
      if (!startsWith(override.path, path)) return false;
      const sent = valueAt(value, override.path.slice(path.length));
      return !deepEqual(sent, override.value) && repeats(sent, override.value);
    }),
  );
}

/** The value that the file is to hold; undefined where it needs none. */
function storedValue(
  value: unknown,
  file: unknown,
  shown: unknown,
  path: ConfigPath,
  overrides: readonly EnvironmentEdit[],
): unknown {
  if (isObject(value) && (isObject(file) || isObject(shown))) {
    const members = Object.entries(value).map(([key, member]) => {
      const at = [...path, key];
      return [key, storedValue(member, valueAt(file, [key]), valueAt(shown, [key]), at, overrides)] as const;
    });
    const stored = Object.fromEntries(members.filter(([, member]) => member !== undefined));
    const isNeeded = file !== undefined || shown === undefined || Object.keys(stored).length > 0;
    return isNeeded ? stored : undefined;
  }
  const override = overrides.find(edit => startsWith(edit.path, path) || startsWith(path, edit.path));
  if (override !== undefined && (deepEqual(value, shown) || repeats(value, override.value))) return file;
  return file === undefined && deepEqual(value, shown) ? undefined : value;
}

/** Whether two lists have an item in common, or two items with the same text at the same place. */
function repeats(value: unknown, other: unknown): boolean {
  return (
    Array.isArray(value) &&
    Array.isArray(other) &&
    value.some(item => other.some(given => deepEqual(item, given) || sharesText(item, given)))
  );
}

/**
 * Whether both have the same text at the same place: any text may be a secret that only the environment is to hold.
 */
function sharesText(value: unknown, other: unknown): boolean {
  if (typeof value === 'string') return value !== '' && value === other;
  if (isObject(value)) return Object.entries(value).some(([key, member]) => sharesText(member, own(other, key)));
  return repeats(value, other);
}
