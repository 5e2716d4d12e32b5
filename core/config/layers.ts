// Merges, edits and compares configuration trees. No function here modifies its arguments.

import type { ConfigObject } from '../contract/config.ts';
import { deepEqual } from '../kit/deep-equal.ts';
import { isObject } from '../kit/plain-object.ts';

export type ConfigPath = readonly string[];

/** Sets one value at a path, or deletes it when the value is undefined. */
export interface ConfigEdit {
  readonly path: ConfigPath;
  readonly value: unknown;
  /** Where the value stands in the file so far; its text is taken from there. */
  readonly from?: ConfigPath;
}

/** The last merge of each upper object. */
const merges = new WeakMap<object, { readonly lower: object; readonly merged: ConfigObject }>();

/**
 * Merges objects deeply; arrays and scalars of `upper` replace those of `lower`. Keys of `upper` come first, in their
 * order. The same arguments give the same object again, so that what is cached by it stays valid.
 */
export function merge(lower: unknown, upper: unknown): unknown {
  if (upper === undefined) return lower;
  if (!isObject(lower) || !isObject(upper)) return upper;
  const known = merges.get(upper);
  if (known?.lower === lower) return known.merged;
  const merged = bare({});
  for (const [key, value] of Object.entries(upper)) merged[key] = merge(own(lower, key), value);
  for (const [key, value] of Object.entries(lower)) if (!Object.hasOwn(merged, key)) merged[key] = value;
  merges.set(upper, { lower, merged });
  return merged;
}

/** The path as users write it, such as `dumb.plugins.dirs`. */
export function dotted(path: ConfigPath): string {
  return path.join('.');
}

/** The value's own member of that name; undefined where it has none, or is no object. */
export function own(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The tree after the edit; parents that are missing are created. */
export function withEdit(root: unknown, edit: ConfigEdit): unknown {
  return withEdits(root, [edit]);
}

/**
 * The tree after all edits, made in their order. Each object on their way is copied once, except those of `copies`,
 * which are changed in place.
 */
export function withEdits(root: unknown, edits: readonly ConfigEdit[], copies = new WeakSet<object>()): unknown {
  const edited = (present: unknown, { path, value }: ConfigEdit, depth: number): unknown => {
    const key = path[depth];
    if (key === undefined) return value;
    const object = isObject(present) ? present : {};
    if (value === undefined && !Object.hasOwn(object, key)) return present;
    const child = edited(own(object, key), { path, value }, depth + 1);
    const copy = copies.has(object) ? object : bare({ ...object });
    copies.add(copy);
    if (child === undefined) delete copy[key];
    else copy[key] = child;
    return copy;
  };
  return edits.reduce<unknown>((tree, edit) => edited(tree, edit, 0), root);
}

/** The same object without a prototype, so that only the names of its members find anything. */
function bare(object: ConfigObject): ConfigObject {
  return Object.setPrototypeOf(object, null) as ConfigObject;
}

/** The edits that merging `patch` at `path` amounts to, one for each leaf; null is an ordinary value here. */
export function editsOf(patch: unknown, path: ConfigPath = []): ConfigEdit[] {
  if (!isObject(patch)) return [{ path, value: patch }];
  const entries = Object.entries(patch);
  if (entries.length === 0) return path.length === 0 ? [] : [{ path, value: patch }];
  return entries.flatMap(([key, value]) => editsOf(value, [...path, key]));
}

/** The paths of leaves that differ. */
export function changedPaths(before: unknown, after: unknown, path: ConfigPath = []): ConfigPath[] {
  if (before === after) return [];
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap(key => changedPaths(own(before, key), own(after, key), [...path, key]));
  }
  return deepEqual(before, after) ? [] : [path];
}

export function startsWith(path: ConfigPath, prefix: ConfigPath): boolean {
  return prefix.every((key, index) => path[index] === key);
}

/**
 * The edits that still matter once the values at these paths are written elsewhere: those at or below one of them are
 * dropped, and those above lose the values there.
 */
export function withoutPaths(edits: readonly ConfigEdit[], paths: readonly ConfigPath[]): ConfigEdit[] {
  if (edits.length === 0) return [];
  const written = new Set(paths.map(placeOf));
  const kept = edits.filter(({ path }) => !waysTo(path).some(way => written.has(placeOf(way))));
  const lost = new Map<string, ConfigEdit[]>(kept.map(({ path }) => [placeOf(path), []]));
  for (const path of paths)
    for (const way of waysTo(path)) lost.get(placeOf(way))?.push({ path: path.slice(way.length), value: undefined });
  return kept.map(edit => {
    const below = lost.get(placeOf(edit.path)) ?? [];
    return below.length > 0 && isObject(edit.value) ? { path: edit.path, value: withEdits(edit.value, below) } : edit;
  });
}

/**
 * The edits with those above one of these paths replaced by edits of members, so that what lies below them can count at
 * these paths. `lower` is what they were made on: its members that such an edit hides are deleted one by one.
 */
export function openedAt(edits: readonly ConfigEdit[], paths: readonly ConfigPath[], lower: unknown): ConfigEdit[] {
  if (edits.length === 0) return [];
  const above = new Set(paths.flatMap(path => waysTo(path).slice(0, -1).map(placeOf)));
  const opened = (edit: ConfigEdit): ConfigEdit[] => {
    const { path: at, value } = edit;
    if (!above.has(placeOf(at))) return [edit];
    const members = isObject(value) ? value : {};
    const hidden = at.reduce(own, lower);
    const keys = new Set([...Object.keys(members), ...(isObject(hidden) ? Object.keys(hidden) : [])]);
    return [...keys].flatMap(key => opened({ path: [...at, key], value: own(members, key) }));
  };
  return edits.flatMap(opened);
}

/** The path itself and those above it. */
function waysTo(path: ConfigPath): ConfigPath[] {
  return [...path.keys(), path.length].map(depth => path.slice(0, depth));
}

/** A text that stands for the path alone. */
export function placeOf(path: ConfigPath): string {
  return JSON.stringify(path);
}
