// Keeps secrets of the environment out of the file when an update brings them to another place, as the copy of a block
// does: only the environment and memory are to hold them.
import { deepEqual } from '../kit/deep-equal.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import { type EnvironmentEdit, variableName } from './environment.ts';
import { type ConfigEdit, dotted, editsOf, startsWith, withEdits } from './layers.ts';
import type { Place } from './marks.ts';
import { isHidden } from './secrets.ts';

export interface SettledSecrets {
  /**
   * The edits of the file. In place of such a secret they have the file's own value there, or at the place it comes
   * from.
   */
  readonly saved: readonly ConfigEdit[];
  /** The edits that only memory is to hold. */
  readonly inMemory: readonly ConfigEdit[];
  readonly warnings: readonly string[];
}

interface Leaf {
  readonly value: unknown;
  /** Name of the member that holds the value, itself or in a list. */
  readonly key: string;
  readonly isHidden: boolean;
}

interface Surroundings {
  readonly file: unknown;
  /** What is in force, as the sender was shown it. */
  readonly shown: unknown;
  readonly overrides: readonly EnvironmentEdit[];
  readonly place: Place;
}

export function settleSecrets(
  edits: readonly ConfigEdit[],
  { file, shown, overrides, place }: Surroundings,
): SettledSecrets {
  const secrets = new Map<unknown, { readonly key: string; readonly from: EnvironmentEdit }>();
  for (const from of overrides)
    for (const { value, key, isHidden } of leavesOf(from.value, place.at(from.path), from.path.at(-1) ?? ''))
      if (isHidden) secrets.set(value, { key, from });
  if (secrets.size === 0) return { saved: edits, inMemory: [], warnings: [] };

  const sourceOf = ({ path, value }: ConfigEdit): EnvironmentEdit | undefined => {
    // Edits at, above or below an overridden place are left to `storedEdits`.
    if (overrides.some(({ path: at }) => startsWith(at, path) || startsWith(path, at))) return undefined;
    // A new value for a present member was chosen by the client, even if it equals a secret elsewhere.
    if (valueAt(shown, path.slice(0, -1)) !== undefined && !deepEqual(valueAt(shown, path), value)) return undefined;
    const leavesAt = (at: unknown): Leaf[] => leavesOf(at, place.at(path), path.at(-1) ?? '');
    const known = new Set(leavesAt(valueAt(file, path)).map(leaf => leaf.value));
    for (const leaf of leavesAt(value)) {
      const secret = known.has(leaf.value) ? undefined : secrets.get(leaf.value);
      if (secret !== undefined && (leaf.isHidden || leaf.key === secret.key)) return secret.from;
    }
    return undefined;
  };
  const inMemory: ConfigEdit[] = [];
  const warnings: string[] = [];
  const saved = edits.map(edit => {
    if (edit.value === undefined) return edit;
    const withheld = editsOf(edit.value, edit.path).flatMap(member => {
      const source = sourceOf(member);
      if (source === undefined) return [];
      const { path, value } = member;
      inMemory.push(member);
      const what = `${dotted(path)} comes from ${source.variable}, so it is in memory alone`;
      warnings.push(`${what}; set ${variableName(path)} for the next start`);
      const own = deepEqual(value, source.value) ? valueAt(file, source.path) : undefined;
      return [{ path: path.slice(edit.path.length), value: valueAt(file, path) ?? own }];
    });
    return withheld.length === 0 ? edit : { ...edit, value: withEdits(edit.value, withheld) };
  });
  return { saved, inMemory, warnings };
}

function leavesOf(value: unknown, place: Place, key: string): Leaf[] {
  if (Array.isArray(value)) return value.flatMap(item => leavesOf(item, place.item(), key));
  if (isObject(value))
    return Object.entries(value).flatMap(([name, member]) => leavesOf(member, place.member(name), name));
  return value === undefined || value === '' ? [] : [{ value, key, isHidden: isHidden(value, place) }];
}
