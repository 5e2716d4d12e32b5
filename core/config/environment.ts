// The environment layer: values of the configuration that secret files, the process environment or `.env` override.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../contract/log.ts';
import { errorText } from '../kit/error-text.ts';
import { finiteData } from '../kit/finite-data.ts';
import { plainData, refuseForbiddenKeys } from '../kit/plain-data.ts';
import { isObject } from '../kit/plain-object.ts';
import { variablesIn } from '../kit/variables-text.ts';
import { type ConfigEdit, type ConfigPath, startsWith } from './layers.ts';
import { readRegular } from './regular-file.ts';

const SECRETS_DIR = '/run/secrets';
/** The names that `variableName` makes. */
const VARIABLE = /^[A-Z0-9_]+$/;
const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on'].map(word => [word, true] as const),
  ...['false', '0', 'no', 'off'].map(word => [word, false] as const),
]);

type Variables = Readonly<Record<string, string | undefined>>;
type Tell = (problem: string, error?: unknown) => void;

export interface Environment {
  /** The raw text of a variable, from the first of secret file, process environment and `.env` that defines it. */
  read(name: string): string | undefined;
  /** Whether the name of any variable begins with `prefix`. */
  hasPrefix(prefix: string): boolean;
  /** Why variables of a file do not count; the log has each when it is found. */
  readonly problems: readonly string[];
}

export async function openEnvironment(configDir: string, env: NodeJS.ProcessEnv, log: Logger): Promise<Environment> {
  const problems: string[] = [];
  const tell = (problem: string, error?: unknown): void => {
    problems.push(problem);
    log.error(problem, error);
  };
  const layers = [await readDotEnv(path.join(configDir, '.env'), tell), env, await readSecrets(tell)];
  // Copied, because each read of `process.env` leaves JavaScript.
  const variables = new Map<string, string>();
  for (const [name, value] of layers.flatMap(layer => Object.entries(layer)))
    if (value !== undefined && value.trim() !== '') variables.set(name, value);
  const names = [...variables.keys()];
  return {
    read: name => variables.get(name),
    hasPrefix: prefix => names.some(name => name.startsWith(prefix)),
    problems,
  };
}

async function readSecrets(tell: Tell): Promise<Variables> {
  const entries = await readdir(SECRETS_DIR).catch(() => []);
  // What else lies there is for others, such as the directories in which the content of links is kept.
  const names = entries.filter(name => VARIABLE.test(name));
  const texts = names.map(async name => [name, (await readText(path.join(SECRETS_DIR, name), tell))?.trimEnd()]);
  return Object.fromEntries(await Promise.all(texts));
}

async function readDotEnv(file: string, tell: Tell): Promise<Variables> {
  const text = await readText(file, tell);
  if (text === undefined) return {};
  try {
    return variablesIn(text);
  } catch (error) {
    tell(`${file} cannot be understood and is ignored`, error);
    return {};
  }
}

/** undefined for a file that is absent or cannot be read. */
async function readText(file: string, tell: Tell): Promise<string | undefined> {
  try {
    return (await readRegular(file)).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') tell(`variables do not count: ${errorText(error)}`);
    return undefined;
  }
}

/** An edit that a variable makes. */
export interface EnvironmentEdit extends ConfigEdit {
  readonly variable: string;
}

/** A variable whose text cannot be converted to the type of the member that its name means. */
export interface UnusedVariable {
  readonly variable: string;
  readonly path: ConfigPath;
  readonly text: string;
  /** What the member is, for a message. */
  readonly expected: string;
}

export interface EnvironmentLayer {
  readonly edits: readonly EnvironmentEdit[];
  readonly unused: readonly UnusedVariable[];
}

/** A place of the configuration, and where it was in earlier versions. */
export interface FormerPath {
  readonly present: ConfigPath;
  readonly former: ConfigPath;
}

/** `dumb.api_service.host` -> `DUMB_API_SERVICE_HOST`. */
export function variableName(configPath: ConfigPath): string {
  return configPath
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]/g, '_');
}

/**
 * The edits that the environment makes in a tree. Only values that exist can be overridden, and objects with members
 * keep those that a variable does not name. Variables with the name of a former path count where none has the present
 * name.
 */
export function environmentEdits(
  root: unknown,
  environment: Environment,
  formerPaths: readonly FormerPath[],
): EnvironmentLayer {
  const edits: EnvironmentEdit[] = [];
  const unused: UnusedVariable[] = [];
  const visit = (value: unknown, configPath: ConfigPath): void => {
    const names = namesOf(configPath, formerPaths);
    // Most parts of the tree are named by no variable, and need not be walked.
    const prefixes = [...names, ...formerNamesBelow(configPath, formerPaths)];
    if (!prefixes.some(prefix => environment.hasPrefix(prefix))) return;
    if (isObject(value)) for (const [key, member] of Object.entries(value)) visit(member, [...configPath, key]);
    const variable = names.find(name => environment.read(name) !== undefined) ?? '';
    const text = environment.read(variable);
    // Variables with the name of a root key belong to other programs.
    if (text === undefined || (hasMembers(value) && configPath.length < 2)) return;
    const made = editsBy({ variable, text }, value, configPath);
    if (made === undefined) unused.push({ variable, path: configPath, text, expected: kindOf(value) });
    else edits.push(...made);
  };
  visit(root, []);
  return { edits, unused };
}

/** The edits that a variable makes at a place; undefined when its text cannot be converted. */
function editsBy(
  { variable, text }: { readonly variable: string; readonly text: string },
  current: unknown,
  configPath: ConfigPath,
): EnvironmentEdit[] | undefined {
  const given = convert(text, current, configPath.at(-1) ?? '');
  if (given === undefined) return undefined;
  if (!hasMembers(current)) return [{ path: configPath, value: given, variable }];
  return Object.entries(given ?? {}).map(([key, value]) => ({ path: [...configPath, key], value, variable }));
}

function hasMembers(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0;
}

/** The names of the variables for a place: the present one, then the former ones. */
function namesOf(configPath: ConfigPath, formerPaths: readonly FormerPath[]): string[] {
  const known = formerPaths.filter(({ present }) => startsWith(configPath, present));
  const former = known.map(path => [...path.former, ...configPath.slice(path.present.length)]);
  return [configPath, ...former].map(variableName);
}

/** The former names of the variables for the place and those below it that were moved. */
function formerNamesBelow(configPath: ConfigPath, formerPaths: readonly FormerPath[]): string[] {
  const below = formerPaths.filter(({ present }) => startsWith(present, configPath));
  return below.map(({ former }) => variableName(former));
}

function kindOf(value: unknown): string {
  if (typeof value === 'boolean') return 'true or false';
  if (typeof value === 'number') return 'a number';
  return Array.isArray(value) ? 'a list in JSON' : 'an object in JSON';
}

/** The text as a value of the same type as `current`; undefined when it cannot be converted. */
function convert(text: string, current: unknown, key: string): unknown {
  const trimmed = text.trim();
  if (typeof current === 'boolean') return BOOLEAN_WORDS.get(trimmed.toLowerCase());
  if (typeof current === 'number') {
    const number = Number(trimmed);
    return Number.isFinite(number) ? number : undefined;
  }
  if (Array.isArray(current) || isObject(current)) {
    try {
      const parsed = plainData(JSON.parse(trimmed) as unknown);
      // Keys that a file may not hold could not be saved.
      refuseForbiddenKeys(parsed);
      const isOfKind = Array.isArray(parsed) === Array.isArray(current) && typeof parsed === 'object';
      return isOfKind ? finiteData(parsed) : undefined;
    } catch {
      return undefined;
    }
  }
  return key === 'log_level' ? trimmed.toUpperCase() : text;
}
