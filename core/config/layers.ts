// Merges, edits and compares configuration trees. No function here modifies its arguments.

import type { ConfigObject } from '../contract/config.ts';
import { deepEqual } from '../kit/deep-equal.ts';
import { isObject } from '../kit/plain-object.ts';

export type ConfigPath = readonly string[];

/** Sets one value at a path, or deletes it when the value is undefined. */
export interface ConfigEdit {
  readonly path: ConfigPath;
  readonly value: unknown;
}

/**
 * Merges objects deeply; arrays and scalars of `upper` replace those of `lower`. Keys of `upper` come first, in their
 * order.
 */
export function merge(lower: unknown, upper: unknown): unknown {
  if (upper === undefined) return lower;
  if (!isObject(lower) || !isObject(upper)) return upper;
  const merged: ConfigObject = {};
  for (const [key, value] of Object.entries(upper)) merged[key] = merge(own(lower, key), value);
  for (const [key, value] of Object.entries(lower)) if (!Object.hasOwn(merged, key)) merged[key] = value;
  return merged;
}

export function valueAt(root: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((value, key) => own(value, key), root);
}

function own(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The tree after the edit; parents that are missing are created. */
export function withEdit(root: unknown, { path, value }: ConfigEdit): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const object = isObject(root) ? root : {};
  if (value === undefined && !Object.hasOwn(object, key)) return root;
  const child = withEdit(own(object, key), { path: rest, value });
  if (child === undefined) {
    const { [key]: _gone, ...others } = object;
    return others;
  }
  return { ...object, [key]: child };
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
 * The edits that still matter once the value at the path is written elsewhere: those at or below it are dropped, and
 * those above it lose the value at the path.
 */
export function withoutPath(edits: readonly ConfigEdit[], { path: at }: Pick<ConfigEdit, 'path'>): ConfigEdit[] {
  return edits
    .filter(edit => !startsWith(edit.path, at))
    .map(edit =>
      startsWith(at, edit.path) && isObject(edit.value)
        ? { path: edit.path, value: withEdit(edit.value, { path: at.slice(edit.path.length), value: undefined }) }
        : edit,
    );
}
