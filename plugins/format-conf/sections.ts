// Files of sections with `key = value` lines (INI and its like): only the value of a line is ever touched. Other lines
// are carried along where the file's program may know them.
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
  /**
   * Whether the line stays as it is for as long as its section stays: words alone, the rest of a value, or a line of a
   * `[[nested]]` section.
   */
  readonly isCarried: boolean;
  /** Whether the line belongs to a `[[nested]]` section, or is its header. */
  readonly isNested: boolean;
  /** The key whose value this carried line continues. */
  readonly continues: string | null;
}

/**
 * `carry` is for files that may hold other lines than sections and `key = value`; `refuse` is for programs that call
 * such files broken.
 */
export type OtherLines = 'carry' | 'refuse';

/** Where the lines of a section are. A section may stand in several places of a file. */
interface Place {
  /** The index of the last header or assignment of the section, behind which lines are added. */
  lastIndex: number;
  /** The index of each key's last line: programs use the last of several lines with the same key. */
  readonly indexes: Map<string, number>;
  /** Keys whose values go on in lines that are carried. */
  readonly continued: Set<string>;
  /** Names that stand alone in a line, and so have no value to change. */
  readonly alone: Set<string>;
}

/** What the lines before one say about it. */
interface Surroundings {
  readonly section: string;
  readonly isNested: boolean;
  /** The last line with a key, while no header has followed. */
  readonly keyLine: Line | null;
}

const BOM = '\uFEFF';
const HEADER = /^\[([^\]]*)\]\s*(?:[;#].*)?$/s;
/** Nested headers as ConfigObj writes them, where the number of brackets is the depth. */
const NESTED_HEADER = /^\[{2,}[^[\]]*\]{2,}\s*(?:[;#].*)?$/s;
const NEW_KEY = /^[^=:\s[\];#][^=:\r\n]*$/;

/** Returns the texts by section and key. Keys before the first header belong to the section with the empty name. */
export function parseSections(text: string, others: OtherLines): FileObject {
  const result = bareObject<Record<string, string>>();
  for (const { section, key, value } of parseLines(removeBom(text), others)) {
    if (key === null && section === '') continue;
    const members = result[section] ?? bareObject<string>();
    if (key !== null) members[key] = value;
    result[section] = members;
  }
  return result;
}

export function editSections(source: string, updates: FileObject, mode: EditMode, others: OtherLines): EditedText {
  const text = removeBom(source);
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const edit = new SectionEdit(parseLines(text, others), ending);
  for (const [section, members] of Object.entries(updates)) {
    checkSection(section, members);
    edit.setMembers(section, members);
  }
  const lines = edit.result(line => mode === 'merge' || isWanted(line, updates));
  return { text: source.slice(0, source.length - text.length) + joinLines(lines, ending), changed: edit.changed };
}

/** The lines of a file while values are set: lines that exist change where they are, new ones are put between them. */
class SectionEdit {
  changed = 0;
  readonly #lines: Line[];
  readonly #ending: string;
  readonly #places: ReadonlyMap<string, Place>;
  readonly #separator: string;
  /** New lines by the index of the line that they follow. */
  readonly #added = new Map<number, Line[]>();

  constructor(lines: Line[], ending: string) {
    this.#lines = lines;
    this.#ending = ending;
    this.#places = findPlaces(lines);
    const sample = lines.find(line => line.key !== null)?.separator ?? '';
    this.#separator = /^\s?[=:]\s?$/.test(sample) ? sample : ' = ';
  }

  setMembers(section: string, members: Readonly<Record<string, unknown>>): void {
    const found = this.#places.get(section);
    const place = found ?? newPlace(this.#lines.length);
    const more = this.#added.get(place.lastIndex) ?? [];
    this.#added.set(place.lastIndex, more);
    if (found === undefined) {
      if (this.#lines.length > 0 || more.length > 0) more.push(blankLine(this.#ending, section));
      more.push(headerLine(section, this.#ending));
      if (Object.keys(members).length === 0) this.changed += 1;
    }
    for (const [key, value] of Object.entries(members))
      this.#setValue(place, more, { section, key, value: formatValue(value, `${section}.${key}`) });
  }

  #setValue(
    place: Place,
    more: Line[],
    { section, key, value }: { section: string; key: string; value: string },
  ): void {
    const index = place.indexes.get(key) ?? -1;
    const line = this.#lines[index];
    if (line?.value === value) return;
    refuseUnclear(place, section, key);
    if (line === undefined)
      more.push(newLine({ key, separator: this.#separator, value, ending: this.#ending, section }));
    else this.#lines[index] = { ...line, text: line.head + value, value };
    this.changed += 1;
  }

  /** All lines in their order. Those that are not kept count as changed. */
  result(isKept: (line: Line) => boolean): Line[] {
    const kept = this.#lines.map(line => (isKept(line) ? [line] : []));
    this.changed += kept.filter(({ length }) => length === 0).length;
    const addedAfter = (index: number): readonly Line[] => this.#added.get(index) ?? [];
    return [
      ...addedAfter(-1),
      ...kept.flatMap((line, index) => [...line, ...addedAfter(index)]),
      ...addedAfter(kept.length),
    ];
  }
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

function parseLines(text: string, others: OtherLines): Line[] {
  const lines: Line[] = [];
  let around: Surroundings = { section: '', isNested: false, keyLine: null };
  for (const [, content = '', ending = ''] of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)) {
    if (content === '' && ending === '') continue;
    const line = parseLine(content, ending, around, others);
    if (line === null)
      throw new Problem(422, `Line ${lines.length + 1}, column 1 is neither a section, a comment nor key = value`);
    around = surroundingsAfter(line, around);
    lines.push(line);
  }
  return lines;
}

/** null for a text that is no line of such a file. */
function parseLine(text: string, ending: string, around: Surroundings, others: OtherLines): Line | null {
  const { section, isNested, keyLine } = around;
  const bare = { ...blankLine(ending, section), text };
  const content = text.trim();
  if (content === '' || content.startsWith('#') || content.startsWith(';')) return bare;
  const header = HEADER.exec(content);
  if (header !== null) return { ...bare, section: header[1] ?? '', isHeader: true };
  if (others === 'carry' && (isNested || NESTED_HEADER.test(content)))
    return { ...bare, isCarried: true, isNested: true };
  // Before a key is looked for, because the rest of a value may have its signs: an address, or a list of variables.
  const isRest = others === 'carry' && keyLine !== null && indentationOf(text) > indentationOf(keyLine.text);
  if (isRest) return { ...bare, isCarried: true, continues: keyLine.key };
  const at = text.search(/[=:]/);
  const key = text.slice(0, Math.max(at, 0)).trim();
  if (key !== '') return { ...bare, key, ...valueAfter(text, at) };
  if (others === 'refuse' || content.startsWith('[')) return null;
  return { ...bare, isCarried: true };
}

/** The value of a line, and what stands before it; `at` is the offset of the sign between key and value. */
function valueAfter(text: string, at: number): Pick<Line, 'value' | 'head' | 'separator'> {
  let valueOffset = at + 1;
  while (text[valueOffset] === ' ' || text[valueOffset] === '\t') valueOffset += 1;
  return {
    value: text.slice(valueOffset).trimEnd(),
    head: text.slice(0, valueOffset),
    separator: text.slice(text.slice(0, at).trimEnd().length, valueOffset),
  };
}

function surroundingsAfter(line: Line, before: Surroundings): Surroundings {
  if (line.isHeader || line.isNested) return { section: line.section, isNested: line.isNested, keyLine: null };
  return line.key === null ? before : { ...before, keyLine: line };
}

function indentationOf(text: string): number {
  return text.length - text.trimStart().length;
}

function blankLine(ending: string, section: string): Line {
  const nothing = { text: '', key: null, value: '', head: '', separator: '', continues: null };
  return { ...nothing, ending, section, isHeader: false, isCarried: false, isNested: false };
}

function headerLine(section: string, ending: string): Line {
  return { ...blankLine(ending, section), text: `[${section}]`, isHeader: true };
}

function newPlace(lastIndex: number): Place {
  return { lastIndex, indexes: new Map(), continued: new Set(), alone: new Set() };
}

function findPlaces(lines: readonly Line[]): Map<string, Place> {
  const places = new Map<string, Place>([['', newPlace(-1)]]);
  for (const [index, { text, section, key, isHeader, isCarried, isNested, continues }] of lines.entries()) {
    if (isNested || (key === null && !isHeader && !isCarried)) continue;
    const place = places.get(section) ?? newPlace(index);
    place.lastIndex = index;
    if (key !== null) {
      place.indexes.set(key, index);
      place.continued.delete(key);
    } else if (continues !== null) place.continued.add(continues);
    else if (isCarried) place.alone.add(text.trim());
    places.set(section, place);
  }
  return places;
}

/**
 * Throws a Problem 400 for a value that goes on in other lines, and for a name without a value: a program might read
 * the edited line otherwise.
 */
function refuseUnclear({ continued, alone }: Place, section: string, key: string): void {
  const name = section === '' ? key : `${section}.${key}`;
  if (continued.has(key)) throw new Problem(400, `${name} goes on in the next line; edit the file by hand`);
  if (alone.has(key)) throw new Problem(400, `${name} stands in the file without a value; edit the file by hand`);
}

function newLine(wanted: { key: string; separator: string; value: string; ending: string; section: string }): Line {
  const { key, separator, value, ending, section } = wanted;
  if (!NEW_KEY.test(key) || key !== key.trim()) throw new Problem(400, `'${key}' cannot be a key of this file`);
  return { ...blankLine(ending, section), text: key + separator + value, key, value };
}

/** A line that was the last of the file may lack its line break, and gets one when another follows it. */
function joinLines(lines: readonly Line[], ending: string): string {
  const last = lines.length - 1;
  return lines.map((line, index) => line.text + (index < last ? line.ending || ending : line.ending)).join('');
}

/**
 * Whether a line stays in a replacement: a shown line when its name is wanted, a carried one when its section is, or
 * the value that it continues.
 */
function isWanted({ section, key, isHeader, isCarried, continues }: Line, updates: FileObject): boolean {
  const members = Object.hasOwn(updates, section) ? (updates[section] as FileObject) : undefined;
  if (isHeader) return members !== undefined;
  const name = key ?? continues;
  if (name !== null) return members !== undefined && Object.hasOwn(members, name);
  return !isCarried || section === '' || members !== undefined;
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
