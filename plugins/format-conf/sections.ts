// Files of sections with `key = value` lines (INI and its like): only the value of a line is ever touched.
import { Problem } from '#core';
import { bareObject, isObject } from '#kit/plain-object';
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
  /** The part of `head` behind the key. */
  readonly separator: string;
  readonly isHeader: boolean;
}

/** Where the lines of a section are. A section may stand in several places of a file. */
interface Place {
  /** The index of the last header or assignment of the section, behind which lines are added. */
  lastIndex: number;
  /** The index of each key's last line: programs use the last of several lines with the same key. */
  readonly indexes: Map<string, number>;
}

const BOM = '\uFEFF';
const HEADER = /^\[([^\]]*)\]\s*(?:[;#].*)?$/s;
const NEW_KEY = /^[^=:\s[\];#][^=:\r\n]*$/;

/** Returns the texts by section and key. Keys before the first header belong to the section with the empty name. */
export function parseSections(text: string): FileObject {
  const result = bareObject<Record<string, string>>();
  for (const { section, key, value } of parseLines(removeBom(text))) {
    if (key === null && section === '') continue;
    const members = result[section] ?? bareObject<string>();
    if (key !== null) members[key] = value;
    result[section] = members;
  }
  return result;
}

export function editSections(source: string, updates: FileObject, mode: EditMode): EditedText {
  const text = removeBom(source);
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = parseLines(text);
  const places = findPlaces(lines);
  const sample = lines.find(line => line.key !== null)?.separator ?? '';
  const separator = /^\s?[=:]\s?$/.test(sample) ? sample : ' = ';
  /** New lines by the index of the line that they follow. */
  const added = new Map<number, Line[]>();
  let changed = 0;
  for (const [section, members] of Object.entries(updates)) {
    checkSection(section, members);
    const place = places.get(section) ?? { lastIndex: lines.length, indexes: new Map() };
    const more = added.get(place.lastIndex) ?? [];
    added.set(place.lastIndex, more);
    if (!places.has(section)) {
      if (lines.length > 0 || more.length > 0) more.push(parseLine('', ending, section));
      more.push(parseLine(`[${section}]`, ending, section));
      if (Object.keys(members).length === 0) changed += 1;
    }
    for (const [key, value] of Object.entries(members)) {
      const wanted = formatValue(value, `${section}.${key}`);
      const index = place.indexes.get(key) ?? -1;
      const line = lines[index];
      if (line?.value === wanted) continue;
      if (line === undefined) more.push(newLine({ key, separator, value: wanted, ending, section }));
      else lines[index] = { ...line, text: line.head + wanted, value: wanted };
      changed += 1;
    }
  }
  const kept = lines.map(line => mode === 'merge' || isWanted(line, updates));
  changed += kept.filter(isKept => !isKept).length;
  const result = [
    ...(added.get(-1) ?? []),
    ...lines.flatMap((line, index) => [...(kept[index] ? [line] : []), ...(added.get(index) ?? [])]),
    ...(added.get(lines.length) ?? []),
  ];
  return { text: source.slice(0, source.length - text.length) + joinLines(result, ending), changed };
}

/** `parseSections` returns every value as text, and shows nothing before the first header where there is nothing. */
export function readBackSections(updates: FileObject): FileObject {
  const sections = Object.entries(updates as Record<string, FileObject>);
  return bareObject(
    sections
      .filter(([section, members]) => section !== '' || Object.keys(members).length > 0)
      .map(([section, members]) => [
        section,
        bareObject(Object.entries(members).map(([key, value]) => [key, String(value)])),
      ]),
  );
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

function parseLine(text: string, ending: string, section: string, number = 1): Line {
  const bare = { text, ending, section, key: null, value: '', head: '', separator: '', isHeader: false };
  const content = text.trim();
  if (content === '' || content.startsWith('#') || content.startsWith(';')) return bare;
  const header = HEADER.exec(content);
  if (header !== null) return { ...bare, section: header[1] ?? '', isHeader: true };
  const at = text.search(/[=:]/);
  const key = text.slice(0, Math.max(at, 0)).trim();
  if (key === '') throw new Problem(422, `Line ${number}, column 1 is neither a section, a comment nor key = value`);
  let valueOffset = at + 1;
  while (text[valueOffset] === ' ' || text[valueOffset] === '\t') valueOffset += 1;
  return {
    ...bare,
    key,
    value: text.slice(valueOffset).trimEnd(),
    head: text.slice(0, valueOffset),
    separator: text.slice(text.slice(0, at).trimEnd().length, valueOffset),
  };
}

function findPlaces(lines: readonly Line[]): Map<string, Place> {
  const places = new Map<string, Place>([['', { lastIndex: -1, indexes: new Map() }]]);
  for (const [index, { section, key, isHeader }] of lines.entries()) {
    if (key === null && !isHeader) continue;
    const place = places.get(section) ?? { lastIndex: index, indexes: new Map() };
    place.lastIndex = index;
    if (key !== null) place.indexes.set(key, index);
    places.set(section, place);
  }
  return places;
}

function newLine(wanted: { key: string; separator: string; value: string; ending: string; section: string }): Line {
  const { key, separator, value, ending, section } = wanted;
  if (!NEW_KEY.test(key) || key !== key.trim()) throw new Problem(400, `'${key}' cannot be a key of this file`);
  return parseLine(key + separator + value, ending, section);
}

/** A line that was the last of the file may lack its line break, and gets one when another follows it. */
function joinLines(lines: readonly Line[], ending: string): string {
  const last = lines.length - 1;
  return lines.map((line, index) => line.text + (index < last ? line.ending || ending : line.ending)).join('');
}

function isWanted({ section, key, isHeader }: Line, updates: FileObject): boolean {
  const members = Object.hasOwn(updates, section) ? (updates[section] as FileObject) : undefined;
  if (isHeader) return members !== undefined;
  return key === null || (members !== undefined && Object.hasOwn(members, key));
}

function checkSection(section: string, members: unknown): asserts members is Record<string, unknown> {
  if (/[\]\r\n]/.test(section)) throw new Problem(400, `'${section}' cannot be the name of a section`);
  if (!isObject(members)) throw new Problem(400, `'${section}' must be an object of keys and texts`);
}

function formatValue(value: unknown, name: string): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) throw new Problem(400, `${name} must be a text`);
  const text = String(value);
  if (/[\r\n\0]/.test(text) || text !== text.trim()) {
    throw new Problem(400, `${name} must be one line without spaces around it`);
  }
  return text;
}

function removeBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text;
}
