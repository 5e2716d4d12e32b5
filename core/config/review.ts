// Finds in the configuration what fits every schema and still cannot be meant: names that stand twice, keys that
// nothing reads, and variables whose value cannot be used.
import type { BlockMarks, ConfigObject, ConfigReview, NamedBlock } from '../contract/config.ts';
import { sameNames } from '../kit/named-blocks.ts';
import { nearestWord } from '../kit/nearest-word.ts';
import { isObject } from '../kit/plain-object.ts';
import { turnWithTime } from '../kit/turns.ts';
import { tellsRelation } from './block-marks.ts';
import type { UnusedVariable } from './environment.ts';
import type { ConfigPath } from './layers.ts';
import type { Place } from './marks.ts';

export interface Reviewed {
  /** The content of the file. */
  readonly file: Readonly<ConfigObject>;
  readonly place: Place;
  readonly blocks: readonly NamedBlock[];
  readonly marksOf: (block: NamedBlock) => BlockMarks;
  readonly unusedVariables: readonly UnusedVariable[];
  /** Members of `dumb` that belong to plugins which are not loaded, so that no schema says which keys they have. */
  readonly unloaded: ReadonlySet<string>;
}

/** Lets other work run between the members of the root. */
export async function reviewConfig(reviewed: Reviewed): Promise<ConfigReview> {
  const { file, place, blocks, marksOf, unusedVariables, unloaded } = reviewed;
  const problems = [...unusedVariables.map(unusedProblem), ...sameNames(blocks).map(sameNameProblem)];
  const notes: string[] = [];
  const parts = new Map(blocks.map(block => [block.path.join('\0'), block]));
  for (const { path, keys, known } of await unknownKeysOfRoot(file, place)) {
    const isRead = otherReaders(parts.get(path.join('\0')), marksOf);
    const isUnloaded = (key: string): boolean => path.length === 1 && path[0] === 'dumb' && unloaded.has(key);
    const strange: string[] = [];
    for (const key of keys.filter(unknown => !isRead(unknown) && !isUnloaded(unknown))) {
      const problem = keyProblem(key, path, known, file);
      if (problem === undefined) strange.push(`'${key}'`);
      else problems.push(problem);
    }
    const at = path.length === 0 ? 'the configuration' : path.join('.');
    if (strange.length > 0) notes.push(`${at}: nothing reads ${strange.join(', ')}`);
  }
  return { problems, notes };
}

function unusedProblem({ variable, path, expected }: UnusedVariable): string {
  return `the variable ${variable} is not used: ${path.join('.')} takes ${expected}; correct or remove the variable`;
}

/** Of blocks with the very same name, only the first is a service. */
function sameNameProblem([name, ...same]: readonly [string, ...NamedBlock[]]): string {
  const [used, ...others] = same.map(({ path }) => path.join('.'));
  const idle = same.filter(({ processName }, at) => same.findIndex(block => block.processName === processName) < at);
  const what = idle.length === 0 ? '' : `, so ${idle.map(({ path }) => path.join('.')).join(', ')} is no service`;
  return `${others.join(', ')}: the name '${name}' is that of ${used}${what}; give each its own process_name`;
}

/**
 * Whether a key of the block is read by something that its schemas do not name. Commands and variables of a service may
 * use any key of its block, and so may its other members.
 */
function otherReaders(block: NamedBlock | undefined, marksOf: Reviewed['marksOf']): (key: string) => boolean {
  if (block === undefined) return () => false;
  const filledIn = namedKeysIn(block.block);
  const marks = marksOf(block);
  return key => filledIn.has(key) || tellsRelation(marks, key);
}

/** What is wrong with a key that nothing reads; undefined when nothing tells what is meant by it. */
function keyProblem(
  key: string,
  path: ConfigPath,
  known: ReadonlySet<string>,
  file: Readonly<ConfigObject>,
): string | undefined {
  const value = path.length === 0 ? file[key] : undefined;
  if (isObject(value) && 'command' in value)
    return `${key}: it has a command and no process_name, so it is no service; give it a process_name`;
  const meant = nearestWord(key, known);
  if (meant === undefined) return undefined;
  return `${[...path, key].join('.')}: there is no key '${key}'; '${meant}' is probably meant`;
}

/** Finds the part of a path up to the key that no schema knows there; undefined when something may read the value. */
export function unreadLook(root: Readonly<ConfigObject>, place: Place): (path: ConfigPath) => ConfigPath | undefined {
  const filledIn = new Map<object, ReadonlySet<string>>();
  const fillsIn = (around: object, key: string): boolean => {
    const words = filledIn.get(around) ?? namedKeysIn(around);
    filledIn.set(around, words);
    return words.has(key);
  };
  return path => unreadPart(root, place, path, fillsIn);
}

function unreadPart(
  root: Readonly<ConfigObject>,
  place: Place,
  path: ConfigPath,
  fillsIn: (around: object, key: string) => boolean,
): ConfigPath | undefined {
  let around: unknown = root;
  for (const [index, key] of path.entries()) {
    if (!isObject(around)) return undefined;
    if (place.namedKeys()?.has(key) === false) {
      const isBlock = index === 0 && isObject(around[key]) && 'process_name' in around[key];
      // Commands and variables of a service may use any key of its block.
      return isBlock || (index > 0 && fillsIn(around, key)) ? undefined : path.slice(0, index + 1);
    }
    around = around[key];
    place = place.member(key);
  }
  return undefined;
}

/** The x of each `{x}` in its texts, and of each member that names a key, such as `port_key: x`. */
function namedKeysIn(value: object): ReadonlySet<string> {
  const text = JSON.stringify(value);
  return new Set(Array.from(text.matchAll(/\{([^{}"]*)\}|_key":"([^"\\]*)"/g), ([, word, key]) => word ?? key ?? ''));
}

interface UnknownKeys {
  readonly path: ConfigPath;
  readonly keys: readonly string[];
  /** The keys that belong there. */
  readonly known: ReadonlySet<string>;
}

/** The unknown keys of the whole configuration. */
async function unknownKeysOfRoot(file: Readonly<ConfigObject>, place: Place): Promise<readonly UnknownKeys[]> {
  const unknown = unknownKeysAt(file, place, []);
  for (const [key, member] of membersToFollow(file, place)) {
    await turnWithTime();
    unknown.push(...unknownKeys(member, place.member(key), [key]));
  }
  return unknown;
}

/** The unknown keys of the value and of everything in it. */
function unknownKeys(value: unknown, place: Place, path: ConfigPath): UnknownKeys[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => unknownKeys(item, place.item(), [...path, `${index}`]));
  if (!isObject(value)) return [];
  const below = membersToFollow(value, place).flatMap(([key, member]) =>
    unknownKeys(member, place.member(key), [...path, key]),
  );
  return [...unknownKeysAt(value, place, path), ...below];
}

/** The unknown keys of the object alone; none where no schema names its members. */
function unknownKeysAt(value: Readonly<ConfigObject>, place: Place, path: ConfigPath): UnknownKeys[] {
  const known = place.namedKeys();
  if (known === null) return [];
  // A block that no schema describes may be one of a plugin that is not loaded.
  const isOwn = (key: string): boolean => path.length === 0 && isObject(value[key]) && 'process_name' in value[key];
  const keys = Object.keys(value).filter(key => !known.has(key) && !isOwn(key));
  return keys.length === 0 ? [] : [{ path, keys, known }];
}

/** The members that have members themselves and that schemas may describe. */
function membersToFollow(value: Readonly<ConfigObject>, place: Place): [string, unknown][] {
  const known = place.namedKeys();
  return Object.entries(value).filter(([key, member]) => typeof member === 'object' && known?.has(key) !== false);
}
