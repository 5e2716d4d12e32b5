// Changes values in the text of a configuration file; every other byte of it stays as it was.
import { type Document, isMap, type YAMLMap } from 'yaml';
import type { ConfigObject } from '../contract/config.ts';
import { Problem } from '../contract/problem.ts';
import { deepEqual } from '../kit/deep-equal.ts';
import { finiteData } from '../kit/finite-data.ts';
import { editJson, jsonValues } from '../kit/json-editor.ts';
import { plainData } from '../kit/plain-data.ts';
import { isObject } from '../kit/plain-object.ts';
import { readTextAbove } from '../kit/text-thread.ts';
import { parseYaml } from '../kit/yaml-document.ts';
import { YamlEditor, yamlValues } from '../kit/yaml-editor.ts';
import { readKey } from '../kit/yaml-places.ts';
import { type ConfigEdit, type ConfigPath, startsWith, withEdits } from './layers.ts';
import { type ConfigFormat, LARGE_BYTES } from './load.ts';
import { renameInText, withFormerText } from './move.ts';

export interface EditedConfig {
  readonly text: string;
  /** Whether spacing changed elsewhere too, because no replaced range could express the edits. */
  readonly isLaidOutAnew: boolean;
}

/** The text after all edits, as `editText` makes it, without a stall of the event loop. */
export function editTextAside(text: string, format: ConfigFormat, edits: readonly ConfigEdit[]): Promise<EditedConfig> {
  return readTextAbove(LARGE_BYTES[format], import.meta.url, editTextWith, text, format, JSON.stringify(edits));
}

/**
 * The same with the JSON text of the edits.
 *
 * @public The thread for large texts calls it by its name.
 */
export function editTextWith(text: string, format: ConfigFormat, editsText: string): EditedConfig {
  return editedConfig(text, format, plainData(JSON.parse(editsText) as ConfigEdit[]));
}

/** Returns the text after all edits, made in their order. Throws a Problem 400 for one that cannot be made. */
export function editText(text: string, format: ConfigFormat, edits: readonly ConfigEdit[]): string {
  return editedConfig(text, format, edits).text;
}

function editedConfig(text: string, format: ConfigFormat, edits: readonly ConfigEdit[]): EditedConfig {
  const moves = edits.flatMap(({ from, ...edit }) => (from === undefined ? [] : [{ ...edit, from }]));
  let isLaidOutAnew = false;
  const changed = (before: string, made: readonly ConfigEdit[]): string => {
    const after = changedText(before, format, made);
    isLaidOutAnew ||= after.isLaidOutAnew;
    return after.text;
  };
  const moved = moves.reduce((before, move) => textAfterMove(before, format, move, changed), text);
  return { text: changed(moved, edits), isLaidOutAnew };
}

/** The text after a move. The rest of the edits removes what is left at the former place. */
function textAfterMove(
  text: string,
  format: ConfigFormat,
  move: ConfigEdit & { readonly from: ConfigPath },
  changed: (text: string, edits: readonly ConfigEdit[]) => string,
): string {
  const { path: to, from } = move;
  const renamed = isBeside(from, to) ? renameInText(text, format, from, to) : undefined;
  if (renamed !== undefined) return renamed;
  const copied = changed(text, [move]);
  const moved = from.length === to.length ? withFormerText(text, copied, format, from, to) : copied;
  return readsAs(moved, format, valuesOf(copied, format)) ? moved : copied;
}

function isBeside(a: ConfigPath, b: ConfigPath): boolean {
  return a.length === b.length && startsWith(a, b.slice(0, -1));
}

/** Throws a Problem 400 where no text can be made that reads as the edited values. */
function changedText(text: string, format: ConfigFormat, edits: readonly ConfigEdit[]): EditedConfig {
  let wanted: ConfigObject = {};
  const edited = (present: ConfigObject): ConfigObject => {
    wanted = withEdits(present, edits) as ConfigObject;
    return wanted;
  };
  const changed = format === 'json' ? editedJson(text, edited) : editedYaml(text, edited);
  if (changed !== undefined && (changed === text || readsAs(changed, format, wanted)))
    return { text: changed, isLaidOutAnew: false };
  const rewritten = format === 'yaml' ? rewriteYaml(text, edited(finiteData(yamlValues(text)))) : undefined;
  if (rewritten !== undefined && readsAs(rewritten, format, wanted))
    return { text: rewritten, isLaidOutAnew: !isAsWritten(text) };
  const reason = 'the change cannot be written without changing other values, such as those that share an anchor';
  throw new Problem(400, `${reason}; edit the configuration file by hand`);
}

function readsAs(text: string, format: ConfigFormat, wanted: ConfigObject): boolean {
  try {
    return deepEqual(valuesOf(text, format), wanted);
  } catch {
    return false;
  }
}

function valuesOf(text: string, format: ConfigFormat): ConfigObject {
  return finiteData(format === 'json' ? jsonValues(text) : yamlValues(text));
}

function editedJson(text: string, edited: (present: ConfigObject) => ConfigObject): string {
  return editJson(text.trim() === '' ? '{}\n' : text, edited, 'replace').text;
}

/** undefined where no replaced range of the text can express the edits. */
function editedYaml(text: string, edited: (present: ConfigObject) => ConfigObject): string | undefined {
  const editor = new YamlEditor(text);
  try {
    editor.apply(edited, 'replace');
  } catch (error) {
    if (error instanceof Problem && error.status === 400) return undefined;
    throw error;
  }
  return editor.text;
}

/** Whether the text is laid out as `rewriteYaml` writes it, mostly because that wrote it earlier. */
function isAsWritten(text: string): boolean {
  return writtenYaml(text, parseYaml(text, { merge: true }).document) === text;
}

function writtenYaml(text: string, document: Document): string {
  const written = document.toString({ lineWidth: 0 });
  return text.includes('\r\n') ? written.replaceAll('\n', '\r\n') : written;
}

/**
 * The text with the wanted values, whose comments are kept while spacing may change; undefined where that is
 * impossible.
 */
function rewriteYaml(text: string, wanted: ConfigObject): string | undefined {
  const { document } = parseYaml(text, { merge: true });
  if (isMap(document.contents)) rewriteMembers(document, document.contents, finiteData(yamlValues(text)), wanted);
  else document.contents = document.createNode(wanted) as never;
  try {
    return writtenYaml(text, document);
  } catch {
    return undefined;
  }
}

function rewriteMembers(document: Document, map: YAMLMap, current: ConfigObject, wanted: ConfigObject): void {
  map.items = map.items.filter(pair => {
    const key = readKey(pair);
    return key === undefined || Object.hasOwn(wanted, key);
  });
  const pairs = new Map(map.items.map(pair => [readKey(pair), pair]));
  for (const [key, value] of Object.entries(wanted)) {
    const before = current[key];
    if (before === value || deepEqual(before, value)) continue;
    const pair = pairs.get(key);
    if (pair === undefined) map.items.push(document.createPair(key, value));
    else if (isMap(pair.value) && isObject(before) && isObject(value))
      rewriteMembers(document, pair.value, before, value);
    else pair.value = document.createNode(value);
  }
}
