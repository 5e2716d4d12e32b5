// Looks through the configuration for what fits every schema and still cannot be meant: names that stand twice, keys that
// nobody reads, and variables whose value cannot be used.
import type { ConfigObject, ConfigReview, NamedBlock } from '../contract/config.ts';
import { sameNames } from '../kit/named-blocks.ts';
import { nearestWord } from '../kit/nearest-word.ts';
import { isObject } from '../kit/plain-object.ts';
import type { UnusedVariable } from './environment.ts';
import type { ConfigPath } from './layers.ts';
import type { Place } from './marks.ts';

export interface Reviewed {
  /** The content of the file. */
  readonly file: Readonly<ConfigObject>;
  readonly place: Place;
  readonly blocks: readonly NamedBlock[];
  readonly unusedVariables: readonly UnusedVariable[];
  /** Members of `dumb` that belong to plugins which are not loaded, so that nobody says which keys they have. */
  readonly unloaded: ReadonlySet<string>;
}

export function reviewConfig({ file, place, blocks, unusedVariables, unloaded }: Reviewed): ConfigReview {
  const problems: string[] = [];
  const notes: string[] = [];
  for (const { variable, path, expected } of unusedVariables)
    problems.push(
      `the variable ${variable} is not used: ${path.join('.')} takes ${expected}; correct or remove the variable`,
    );
  for (const [name, used, ...others] of sameNames(blocks)) {
    const places = others.map(({ path }) => path.join('.')).join(', ');
    problems.push(`${places}: the name '${name}' is that of ${used?.path.join('.')}; give each its own process_name`);
  }
  const parts = new Map(blocks.map(({ path, block }) => [path.join('\0'), JSON.stringify(block)]));
  for (const { path, keys, known } of unknownKeys(file, place, [])) {
    if (path.length === 1 && path[0] === 'dumb') for (const key of unloaded) keys.delete(key);
    const text = parts.get(path.join('\0'));
    const at = path.length === 0 ? 'the configuration' : path.join('.');
    const strange: string[] = [];
    for (const key of keys) {
      // Commands and variables of a service may use any key of its block.
      if (text?.includes(`{${key}}`)) continue;
      const meant = nearestWord(key, known);
      if (meant === undefined || Object.hasOwn(keys, meant)) strange.push(key);
      else problems.push(`${[...path, key].join('.')}: there is no key '${key}'; '${meant}' is probably meant`);
    }
    if (strange.length > 0) notes.push(`${at}: nothing reads ${strange.map(key => `'${key}'`).join(', ')}`);
  }
  return { problems, notes };
}

interface UnknownKeys {
  readonly path: ConfigPath;
  readonly keys: Set<string>;
  /** The keys that belong there. */
  readonly known: ReadonlySet<string>;
}

/** Only of objects whose members a schema names. */
function unknownKeys(value: unknown, place: Place, path: ConfigPath): UnknownKeys[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => unknownKeys(item, place.item(), [...path, `${index}`]));
  if (!isObject(value)) return [];
  const known = place.namedKeys();
  const members = Object.entries(value);
  const keys = known === null ? [] : members.flatMap(([key]) => (known.has(key) ? [] : [key]));
  // A block that no schema describes may be one of a plugin that is not loaded.
  const isOwn = (key: string): boolean => path.length === 0 && isObject(value[key]) && 'process_name' in value[key];
  const strange = new Set(keys.filter(key => !isOwn(key)));
  const below = members.flatMap(([key, member]) =>
    known?.has(key) === false ? [] : unknownKeys(member, place.member(key), [...path, key]),
  );
  return known === null || strange.size === 0 ? below : [{ path, keys: strange, known }, ...below];
}
