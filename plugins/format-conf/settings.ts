// Files of settings, one per line: a name, with or without `=` a value, which single quotes keep whole. Only values change.
import { Problem } from '#core';
import type { EditedText, EditMode, FileObject } from '../config-files/contract.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_.]*$/;
/** What readers take without quotes: a word, or a number with a unit; an address such as 127.0.0.1 is neither. */
const PLAIN = /^(?:[A-Za-z_][A-Za-z0-9_.:-]*|[+-]?\d+(?:\.\d+)?[A-Za-z]*)$/;
/** Indent and name, separator, value, and the rest with an inline comment. */
const SETTING = /^(\s*([A-Za-z_][A-Za-z0-9_.]*))(\s*=\s*|\s+)('(?:[^']|'')*'|[^\s#']+)(\s*(?:#.*)?)$/;
const IGNORED = /^\s*(#|$)/;
const DIRECTIVES = new Set(['include', 'include_if_exists', 'include_dir']);

interface Line {
  readonly text: string;
  readonly ending: string;
  /** null: no setting. In lower case, since names are not case sensitive. */
  readonly name: string | null;
  readonly value: string;
}

export function parseSettings(text: string): FileObject {
  const result: Record<string, string> = {};
  for (const { name, value } of linesOf(text)) if (name !== null) result[name] = value;
  return result;
}

export function editSettings(text: string, updates: FileObject, mode: EditMode): EditedText {
  let lines = linesOf(text);
  let changed = 0;
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  for (const [given, value] of Object.entries(updates)) {
    if (!NAME.test(given)) throw new Problem(400, `'${given}' cannot be the name of a setting`);
    const name = given.toLowerCase();
    if (name !== given) throw new Problem(400, `Write the name of the setting ${given} in lower case`);
    const wanted = valueText(value, given);
    // The last active line of a name wins.
    const index = lines.findLastIndex(line => line.name === name);
    const line = lines[index];
    if (line?.value === wanted) continue;
    if (line === undefined) {
      const last = lines.at(-1);
      if (last !== undefined && last.ending === '') lines[lines.length - 1] = { ...last, ending };
      lines.push(parseLine(`${given} = ${quoted(wanted, false)}`, ending, lines.length + 1));
    } else {
      const [, head = '', , separator = '', old = '', rest = ''] = SETTING.exec(line.text) ?? [];
      lines[index] = parseLine(head + separator + quoted(wanted, old.startsWith("'")) + rest, line.ending, index + 1);
    }
    changed += 1;
  }
  if (mode === 'replace') {
    const names = new Set(Object.keys(updates).map(name => name.toLowerCase()));
    const kept = lines.filter(({ name }) => name === null || names.has(name));
    changed += lines.length - kept.length;
    lines = kept;
  }
  return { text: lines.map(line => line.text + line.ending).join(''), changed };
}

/** Every value reads back as text. */
export function readBackSettings(updates: FileObject): FileObject {
  return Object.fromEntries(Object.entries(updates).map(([name, value]) => [name, valueText(value, name)]));
}

function linesOf(text: string): Line[] {
  const found = [...text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)].filter(([whole]) => whole !== '');
  return found.map(([, content = '', ending = ''], index) => parseLine(content, ending, index + 1));
}

function parseLine(text: string, ending: string, number: number): Line {
  if (IGNORED.test(text)) return { text, ending, name: null, value: '' };
  const [, , name, , value] = SETTING.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new Problem(422, `Line ${number}, column 1 is neither a comment nor a setting`);
  }
  if (DIRECTIVES.has(name.toLowerCase())) return { text, ending, name: null, value: '' };
  const plain = value.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value;
  return { text, ending, name: name.toLowerCase(), value: plain };
}

function valueText(value: unknown, name: string): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'string' && typeof value !== 'number') throw new Problem(400, `${name} must be a text`);
  const text = String(value);
  if (/[\r\n\0]/.test(text)) throw new Problem(400, `${name} must be one line`);
  return /^'(?:[^']|'')*'$/.test(text) ? text.slice(1, -1).replaceAll("''", "'") : text;
}

function quoted(value: string, wasQuoted: boolean): string {
  return PLAIN.test(value) && !wasQuoted ? value : `'${value.replaceAll("'", "''")}'`;
}
