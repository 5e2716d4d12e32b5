// Files of sections with `key = value` lines (INI and its like): only the value of a line is ever touched.
import { Problem } from '#core';
import type { EditedText, EditMode, FileObject } from '../config-files/contract.ts';

interface Line {
  readonly text: string;
  /** The line break after the text; empty on a last line without one. */
  readonly ending: string;
  readonly section: string;
  /** null for a header, a comment and a blank line. */
  readonly key: string | null;
  readonly value: string;
  /** The part of the line before the value: indentation, key and separator. */
  readonly head: string;
  readonly isHeader: boolean;
}

const HEADER = /^\s*\[([^\]]*)\]\s*([;#].*)?$/;
const ASSIGNMENT = /^(\s*([^=:\s][^=:]*?)\s*[=:][ \t]*)(.*?)(\s*)$/;
const COMMENT = /^\s*([;#]|$)/;

/** Returns the texts by section and key. Keys before the first header belong to the section with the empty name. */
export function parseSections(text: string): FileObject {
  const result: Record<string, Record<string, string>> = {};
  for (const { section, key, value, isHeader } of parseLines(text)) {
    if (isHeader) result[section] ??= {};
    if (key === null) continue;
    const members = result[section] ?? {};
    members[key] = value;
    result[section] = members;
  }
  return result;
}

export function editSections(text: string, updates: FileObject, mode: EditMode): EditedText {
  let lines = parseLines(text);
  let changed = 0;
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  for (const [section, members] of Object.entries(updates)) {
    checkSection(section, members);
    for (const [key, value] of Object.entries(members)) {
      const wanted = formatValue(value, `${section}.${key}`);
      // Programs use the last of several lines with the same key.
      const index = lines.findLastIndex(line => line.section === section && line.key === key);
      const line = lines[index];
      if (line === undefined) lines = addLine(lines, { section, key, value: wanted, ending });
      else if (line.value === wanted) continue;
      else lines = lines.with(index, parseLine(`${line.head}${wanted}`, line.ending, section, index + 1));
      changed += 1;
    }
  }
  if (mode === 'replace') {
    const kept = lines.filter(line => isWanted(line, updates));
    changed += lines.length - kept.length;
    lines = kept;
  }
  return { text: lines.map(line => line.text + line.ending).join(''), changed };
}

/** `parseSections` returns every value as text. */
export function readBackSections(updates: FileObject): FileObject {
  const texts = (members: unknown): FileObject =>
    Object.fromEntries(Object.entries(members as FileObject).map(([key, value]) => [key, String(value)]));
  return Object.fromEntries(Object.entries(updates).map(([section, members]) => [section, texts(members)]));
}

function parseLines(text: string): Line[] {
  const lines: Line[] = [];
  let section = '';
  for (const [, content = '', ending = ''] of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)) {
    if (content === '' && ending === '') continue;
    const line = parseLine(content, ending, section, lines.length + 1);
    section = line.section;
    lines.push(line);
  }
  return lines;
}

function parseLine(text: string, ending: string, section: string, number: number): Line {
  const bare = { text, ending, section, key: null, value: '', head: '', isHeader: false };
  const plain = text.replace(/^\uFEFF/, '');
  if (COMMENT.test(plain)) return bare;
  const header = HEADER.exec(plain);
  if (header !== null) return { ...bare, section: header[1] ?? '', isHeader: true };
  const [, head, key, value] = ASSIGNMENT.exec(text) ?? [];
  if (head === undefined || key === undefined || value === undefined) {
    throw new Problem(422, `Line ${number}, column 1 is neither a section, a comment nor key = value`);
  }
  return { ...bare, key: key.replace(/^\uFEFF/, ''), value, head };
}

function addLine(
  lines: readonly Line[],
  { section, key, value, ending }: { section: string; key: string; value: string; ending: string },
): Line[] {
  if (!/^[^=:\s[\];#][^=:\r\n]*$/.test(key)) throw new Problem(400, `'${key}' cannot be a key of this file`);
  const sample = lines.find(line => line.key !== null)?.head ?? 'key = ';
  const separator = /\s*[=:]\s*$/.exec(sample)?.[0] ?? ' = ';
  const addedLine = parseLine(`${key}${separator}${value}`, ending, section, lines.length + 1);
  const last = lines.findLastIndex(line => line.section === section && (line.key !== null || line.isHeader));
  if (last >= 0 || section === '') return insertAt(lines, last + 1, [addedLine], ending);
  const header = parseLine(`[${section}]`, ending, section, lines.length + 1);
  const gap = lines.length === 0 ? [] : [parseLine('', ending, '', lines.length + 1)];
  return insertAt(lines, lines.length, [...gap, header, addedLine], ending);
}

/** Inserts lines. The line before them may be the last of the file, and then gets the line break that it lacks. */
function insertAt(lines: readonly Line[], index: number, more: readonly Line[], ending: string): Line[] {
  const before = lines.slice(0, index);
  const last = before.at(-1);
  if (last !== undefined && last.ending === '') before[before.length - 1] = { ...last, ending };
  return [...before, ...more, ...lines.slice(index)];
}

function isWanted({ section, key, isHeader }: Line, updates: FileObject): boolean {
  const members = updates[section] as Record<string, unknown> | undefined;
  if (isHeader) return members !== undefined;
  return key === null || (members !== undefined && Object.hasOwn(members, key));
}

function checkSection(section: string, members: unknown): asserts members is Record<string, unknown> {
  if (/[\]\r\n]/.test(section)) throw new Problem(400, `'${section}' cannot be the name of a section`);
  if (typeof members !== 'object' || members === null || Array.isArray(members)) {
    throw new Problem(400, `'${section}' must be an object of keys and texts`);
  }
}

function formatValue(value: unknown, name: string): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) throw new Problem(400, `${name} must be a text`);
  const text = String(value);
  if (/[\r\n\0]/.test(text) || text !== text.trim()) {
    throw new Problem(400, `${name} must be one line without spaces around it`);
  }
  return text;
}
