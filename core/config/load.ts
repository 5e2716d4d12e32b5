// Finds, reads and parses the main configuration file.
import { isUtf8 } from 'node:buffer';
import { readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { getNodeValue, type ParseError, parseTree } from 'jsonc-parser';
import type { ConfigObject } from '../contract/config.ts';
import { Problem } from '../contract/problem.ts';
import { errorText } from '../kit/error-text.ts';
import { finiteData } from '../kit/finite-data.ts';
import { jsonFaultText } from '../kit/json-fault.ts';
import { refuseCostlyJson } from '../kit/nesting.ts';
import { plainData, refuseForbiddenKeys } from '../kit/plain-data.ts';
import { positionAt } from '../kit/text-position.ts';
import { LARGE_TEXT_BYTES, LARGE_YAML_BYTES, readTextAbove } from '../kit/text-thread.ts';
import { parseYaml, yamlData } from '../kit/yaml-document.ts';
import { FILE_NAMES } from './file-names.ts';
import { readRegular } from './regular-file.ts';

/** How many faults of a text are reported at once. */
const MAX_FAULTS = 5;

/** The codes of the system for a file, or a directory above it, that this user may not read. */
const CLOSED = ['EACCES', 'EPERM'];

/** The character that stands for bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';

export type ConfigFormat = 'json' | 'yaml';

/** The most characters of a configuration file. */
export const MAX_CHARACTERS = 5 * 1024 * 1024;

/** Above these a text is parsed and edited in the thread for texts. */
export const LARGE_BYTES: Readonly<Record<ConfigFormat, number>> = { json: LARGE_TEXT_BYTES, yaml: LARGE_YAML_BYTES };

export interface ConfigText {
  readonly file: string;
  readonly format: ConfigFormat;
  readonly text: string;
  /** Whether the file is UTF-8. Other bytes would be lost when the text is written. */
  readonly isUtf8: boolean;
}

/** Thrown for a file that cannot be parsed; the message has file, line, column and what was expected. */
class ConfigSyntaxError extends Error {
  override readonly name = 'ConfigSyntaxError';
}

/**
 * Reads the configuration file of a directory, the first of its names that exists; null when there is none. Throws an
 * Error that says what to do when that one cannot be read.
 */
export async function findConfigFile(configDir: string): Promise<ConfigText | null> {
  for (const name of FILE_NAMES) {
    try {
      return await readConfigText(path.join(configDir, name));
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') {
        await refuseLostLink(path.join(configDir, name));
        continue;
      }
      if (code === 'ENOTDIR')
        throw new Error(`there is no directory ${configDir}; name another with --config-dir`, { cause: error });
      if (!CLOSED.includes(code)) throw error;
      const remedy = 'run this as the user of Stackwarden, or name another directory with --config-dir';
      throw new Error(`${errorText(error)}; ${remedy}`, { cause: error });
    }
  }
  return null;
}

/** A link whose target is missing is no missing file: another one would be read, or made, in its place. */
async function refuseLostLink(file: string): Promise<void> {
  const target = await readlink(file).catch(() => null);
  if (target === null) return;
  throw new Error(`${file} is a link to ${target}, which does not exist; bring that back, or remove the link`);
}

/** Names of the files in the same directory that would be read if this one were not there. */
export async function findUnreadFiles(file: string): Promise<string[]> {
  const present = new Set(await readdir(path.dirname(file)));
  return FILE_NAMES.slice(FILE_NAMES.indexOf(path.basename(file)) + 1).filter(name => present.has(name));
}

export async function readConfigText(file: string): Promise<ConfigText> {
  const bytes = await readRegular(file);
  return { file, format: formatOf(file), text: bytes.toString('utf8'), isUtf8: isUtf8(bytes) };
}

/** Throws a ConfigSyntaxError for a file in another encoding. */
export function requireUtf8({ file, text, ...found }: ConfigText): void {
  if (found.isUtf8) return;
  const { line, column } = positionAt(text, text.indexOf(REPLACEMENT));
  throw new ConfigSyntaxError(`${file}:${line}:${column}: this is not UTF-8; save the file in that encoding`);
}

/** What `parseConfig` gives, without a stall of the event loop. Throws an Error with the same message. */
export function parseConfigAside({ file, format, text }: Omit<ConfigText, 'isUtf8'>): Promise<ConfigObject> {
  return readTextAbove(LARGE_BYTES[format], import.meta.url, parseConfig, text, file, format);
}

/**
 * Objects of the value have no prototype, and numbers that are not finite are null. Throws a ConfigSyntaxError when the
 * text is not a valid configuration.
 */
export function parseConfig(text: string, file: string, format: ConfigFormat): ConfigObject {
  let value: unknown;
  try {
    if (text.length > MAX_CHARACTERS) throw new Problem(413, `it has more than ${MAX_CHARACTERS} characters`);
    // An editor or a full disk may leave an empty file.
    if (text.trim() === '') throw new ConfigSyntaxError(`${file} is empty; write {} into it, or remove it`);
    value = format === 'json' ? plainData(parseJsonText(file, text)) : parseYamlText(file, text);
    refuseForbiddenKeys(value);
    value = finiteData(value);
  } catch (error) {
    if (error instanceof Problem) throw new ConfigSyntaxError(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigSyntaxError(`${file}:1:1: an object was expected at the top`);
  }
  return value as ConfigObject;
}

function parseJsonText(file: string, text: string): unknown {
  const errors: ParseError[] = [];
  const source = text.replace(/^\uFEFF/, ' ');
  refuseCostlyJson(source);
  const tree = parseTree(source, errors, { allowTrailingComma: true });
  if (errors.length === 0) return tree === undefined ? undefined : getNodeValue(tree);
  const faults = new Map<number, string>();
  for (const error of errors) {
    const { line, column } = positionAt(text, error.offset);
    // What else is wrong on the same line mostly follows from the first fault there.
    if (faults.has(line)) continue;
    faults.set(line, `${file}:${line}:${column}: ${jsonFaultText(error)}`);
    if (faults.size === MAX_FAULTS) break;
  }
  throw new ConfigSyntaxError([...faults.values()].join('; '));
}

function parseYamlText(file: string, text: string): unknown {
  const { document, error } = parseYaml(text, { merge: true });
  if (error === undefined) return yamlData(document);
  throw new ConfigSyntaxError(`${file}:${error.line}:${error.column}: ${error.message}`);
}

export function formatOf(file: string): ConfigFormat {
  return path.extname(file) === '.json' ? 'json' : 'yaml';
}
