// Files of settings, one per line: a name, with or without `=` a value, which single quotes keep whole. Within the
// quotes a backslash gives the next character another meaning, and a quote is doubled. Only values change.
import { Problem } from '#core';
import { bareObject } from '#kit/plain-object';
import type { EditedText, EditMode, FileObject } from '../config-files/contract.ts';

const SETTING_NAME = /^[A-Za-z_][A-Za-z0-9_.]*$/;
/** Values that need no quotes: a word, or a number with a unit. An address such as 127.0.0.1 is neither. */
const UNQUOTED_VALUE = /^(?:[A-Za-z_][A-Za-z0-9_.:-]*|[+-]?\d+(?:\.\d+)?[A-Za-z]*)$/;
/** Groups: indentation and name, the name alone, separator, value, and the rest of the line with its comment. */
const SETTING = /^(\s*([A-Za-z_][A-Za-z0-9_.]*))(\s*=\s*|\s+)('[^'\\]*(?:(?:''|\\.)[^'\\]*)*'|[^\s#']+)(\s*(?:#.*)?)$/;
const QUOTED_VALUE = /^'[^'\\]*(?:(?:''|\\[\s\S])[^'\\]*)*'$/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const BLANK_OR_COMMENT = /^\s*(#|$)/;
/** Include directives look like settings but are not, so they are neither shown nor changed. */
const DIRECTIVES = new Set(['include', 'include_if_exists', 'include_dir']);

interface Line {
  readonly text: string;
  readonly ending: string;
  /** Name of the setting in lower case, because names are not case-sensitive; null when the line is no setting. */
  readonly name: string | null;
  readonly value: string;
}

export function parseSettings(text: string): FileObject {
  return bareObject(parseLines(text).flatMap(({ name, value }) => (name === null ? [] : [[name, value] as const])));
}

export function editSettings(text: string, updates: FileObject, mode: EditMode): EditedText {
  const lines = parseLines(text);
  let changed = 0;
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  // Readers use the last line of a name.
  const indexes = new Map(lines.map(({ name }, index) => [name, index]));
  for (const [name, value] of Object.entries(updates)) {
    checkName(name);
    const index = indexes.get(name) ?? -1;
    const line = lines[index];
    const wanted = readValue(value, name, line?.value);
    if (line?.value === wanted) continue;
    if (/[\r\n\0]/.test(wanted)) throw new Problem(400, `${name} must be one line`);
    if (line === undefined) append(lines, `${name} = ${quoteValue(wanted, false)}`, ending);
    else lines[index] = withValue(line, wanted, index + 1);
    changed += 1;
  }
  const isKept = ({ name }: Line): boolean => mode === 'merge' || name === null || Object.hasOwn(updates, name);
  const kept = lines.filter(isKept);
  changed += lines.length - kept.length;
  return { text: kept.map(line => line.text + line.ending).join(''), changed };
}

function checkName(name: string): void {
  if (!SETTING_NAME.test(name)) throw new Problem(400, `'${name}' cannot be the name of a setting`);
  if (name.toLowerCase() !== name) throw new Problem(400, `Write the name of the setting ${name} in lower case`);
  if (DIRECTIVES.has(name)) throw new Problem(400, `${name} is no setting; edit the file by hand`);
}

/** Adds a line at the end of the file, whose last line may lack its line break. */
function append(lines: Line[], text: string, ending: string): void {
  const last = lines.at(-1);
  if (last?.ending === '') lines[lines.length - 1] = { ...last, ending };
  lines.push(parseLine(text, ending, lines.length + 1));
}

function withValue({ text, ending }: Line, value: string, number: number): Line {
  const [, head = '', , separator = '', old = '', rest = ''] = SETTING.exec(text) ?? [];
  return parseLine(head + separator + quoteValue(value, old.startsWith("'")) + rest, ending, number);
}

/** `parseSettings` returns every value as text. */
export function readBackSettings(updates: FileObject, text: string): FileObject {
  const present = parseSettings(text);
  return bareObject(Object.entries(updates).map(([name, value]) => [name, readValue(value, name, present[name])]));
}

function parseLines(text: string): Line[] {
  const found = [...text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)].filter(([whole]) => whole !== '');
  return found.map(([, content = '', ending = ''], index) => parseLine(content, ending, index + 1));
}

function parseLine(text: string, ending: string, number: number): Line {
  if (BLANK_OR_COMMENT.test(text)) return { text, ending, name: null, value: '' };
  const [, , name, , value] = SETTING.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new Problem(422, `Line ${number}, column 1 is neither a comment nor a setting`);
  }
  if (DIRECTIVES.has(name.toLowerCase())) return { text, ending, name: null, value: '' };
  return { text, ending, name: name.toLowerCase(), value: unquote(value) };
}

/** The value that an update means: quotes around it are removed, unless the file's own value is the same text. */
function readValue(value: unknown, name: string, present: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'string' && typeof value !== 'number') throw new Problem(400, `${name} must be a text`);
  const text = String(value);
  return text === present ? text : unquote(text);
}

function unquote(value: string): string {
  if (!QUOTED_VALUE.test(value)) return value;
  return value
    .slice(1, -1)
    .replaceAll(/''|\\([0-7]{1,3}|[\s\S])/g, (_whole, escaped: string | undefined) =>
      escaped === undefined ? "'" : /^[0-7]/.test(escaped) ? octal(escaped) : (ESCAPES.get(escaped) ?? escaped),
    );
}

function octal(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 8) % 256);
}

function quoteValue(value: string, wasQuoted: boolean): string {
  return UNQUOTED_VALUE.test(value) && !wasQuoted ? value : `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
