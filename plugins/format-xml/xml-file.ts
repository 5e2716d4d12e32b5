// Edits XML files: the range of a text or an attribute is replaced, every other byte is kept.

import { Problem } from '#core';
import { refuseCostlyJson } from '#kit/nesting';
import { plainData } from '#kit/plain-data';
import { bareObject, isObject } from '#kit/plain-object';
import { positionAt } from '#kit/text-position';
import { applySplices, type Splice } from '#kit/text-splice';
import { readText } from '#kit/text-thread';
import type { ConfigFormat, EditedText, EditMode, FileObject, TextUpdate } from '../config-files/contract.ts';
import { type Element, parseDocument, undeclaredNames } from './xml-document.ts';

/** A leaf is a text or null; an object holds attributes as `@name`, text beside them as `#text`, and children. */
type Value = string | null | FileObject | Value[];

const TEXT = '#text';
const DECLARED_ENCODING = /^\uFEFF?<\?xml\s[^>]*?\sencoding\s*=\s*["']([\w.-]+)["']/;
const MAX_DECLARATION = 200;
/** Longer white space before an element is not repeated before the new ones behind it. */
const MAX_LEAD = 200;

export const xmlFormat: ConfigFormat = {
  name: 'xml',
  extensions: ['.xml'],
  parse: text => readText(import.meta.url, parseXml, text),
  edit: (text, updates, mode) => readText(import.meta.url, editXml, text, JSON.stringify(updates), mode),
  readBack: (updates, text) => readText(import.meta.url, readBackXml, JSON.stringify(updates), text),
  readUpdate: text => readText(import.meta.url, readXmlUpdate, text),
};

export function parseXml(text: string): FileObject {
  const root = parseDocument(text);
  return bareObject([[root.name, readElement(root)]]);
}

/** `updatesText` is the JSON text of the values, as it is for `editXml`. */
export function readBackXml(updatesText: string, text: string): FileObject {
  const updates = plainData(JSON.parse(updatesText) as FileObject);
  return withoutEmptyTexts(normalizeValue(withRoot(updates, parseDocument(text).name))) as FileObject;
}

export function readXmlUpdate(text: string): TextUpdate {
  try {
    if (text.trimStart().startsWith('<')) {
      refuseUndeclared(undeclaredNames(parseDocument(text)));
      if (!isReadAsUtf8(text) && inAscii(text) !== text)
        throw new Error('it declares another encoding than UTF-8, in which files are written');
      return { kind: 'file', text };
    }
    refuseCostlyJson(text);
    const values: unknown = plainData(JSON.parse(text));
    if (!isObject(values)) throw new Error('a JSON object is expected');
    return { kind: 'values', values };
  } catch (error) {
    throw new Problem(400, `The update is neither a JSON object nor valid XML: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

export function editXml(text: string, updatesText: string, mode: EditMode): EditedText {
  const updates = plainData(JSON.parse(updatesText) as FileObject);
  const root = parseDocument(text);
  const wanted = normalizeValue(withRoot(updates, root.name)) as FileObject;
  const others = Object.keys(wanted).filter(name => name !== root.name);
  if (others.length > 0) throw new Problem(400, `The root of the file is ${root.name}, not ${others.join(', ')}`);
  const planned = new SplicePlanner(text, mode).planElement(root, wanted[root.name] as Value);
  const splices = isReadAsUtf8(text) ? planned : planned.map(splice => ({ ...splice, text: inAscii(splice.text) }));
  const edited = applySplices(text, splices);
  // Undeclared names that the file has already are let through.
  if (splices.length > 0) refuseUndeclared(undeclaredNames(parseDocument(edited)), undeclaredNames(root));
  return { text: edited, changed: splices.length };
}

/** Whether readers take the bytes for UTF-8: a file of ASCII may declare another encoding. */
function isReadAsUtf8(text: string): boolean {
  const [, declared = 'utf-8'] = DECLARED_ENCODING.exec(text.slice(0, MAX_DECLARATION)) ?? [];
  return declared.toLowerCase() === 'utf-8';
}

/** The text with entities in place of other characters, so that readers read it in any encoding. */
function inAscii(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/gu, character => `&#${character.codePointAt(0)};`);
}

function refuseUndeclared(found: ReadonlySet<string>, present: ReadonlySet<string> = new Set()): void {
  const name = [...found].find(given => !present.has(given));
  if (name === undefined) return;
  const [prefix] = name.split(':');
  throw new Problem(400, `Nothing declares the prefix of '${name}'; add @xmlns:${prefix} first, or send another name`);
}

/** Updates may leave out the root's name; they then concern the content of the root. */
function withRoot(updates: FileObject, root: string): FileObject {
  return Object.hasOwn(updates, root) && Object.keys(updates).length === 1 ? updates : bareObject([[root, updates]]);
}

/** Plans the splices that give elements their wanted values; refuses with a Problem 400 what cannot be done safely. */
class SplicePlanner {
  readonly #text: string;
  readonly #mode: EditMode;

  constructor(text: string, mode: EditMode) {
    this.#text = text;
    this.#mode = mode;
  }

  planElement(element: Element, wanted: Value): Splice[] {
    if (Array.isArray(wanted)) throw this.#createRefusal(element, 'is no list');
    if (!isObject(wanted)) return this.#planLeaf(element, wanted);
    const isLeaf = element.attributes.length === 0 && element.children.length === 0;
    if (isLeaf && !hasMembers(wanted)) throw this.#createRefusal(element, 'holds only text, which is sent as a text');
    const present = groupChildren(element);
    const splices = Object.entries(wanted as Record<string, Value>).flatMap(([key, value]) =>
      this.#planMember(element, key, value, present.get(key) ?? []),
    );
    return this.#mode === 'replace' ? [...splices, ...this.#planRemovals(element, wanted)] : splices;
  }

  #planLeaf(element: Element, wanted: string | null): Splice[] {
    if (element.attributes.length > 0)
      throw this.#createRefusal(element, 'has attributes, so its text must be sent as #text');
    return element.children.length === 0 && element.text === (wanted ?? '') ? [] : [this.#planText(element, wanted)];
  }

  #planMember(element: Element, key: string, value: Value, present: readonly Element[]): Splice[] {
    if (key === TEXT) return element.text.trim() === (value ?? '') ? [] : [this.#planText(element, value)];
    if (key.startsWith('@')) return this.#planAttribute(element, key.slice(1), value);
    const values = Array.isArray(value) ? value : [value];
    if (present.length === 0) return [this.#planNewChildren(element, key, values)];
    if (present.length !== values.length)
      throw this.#createRefusal(element, `holds ${present.length} elements ${key}, not ${values.length}`);
    return present.flatMap((child, index) => this.planElement(child, values[index] ?? null));
  }

  #planText(element: Element, value: Value): Splice {
    if (element.children.length > 0 || element.isMixed) throw this.#createRefusal(element, 'holds more than text');
    if (isObject(value) || Array.isArray(value)) throw this.#createRefusal(element, 'holds only text');
    const text = escapeText(value ?? '');
    if (element.contentStartOffset !== null && element.contentEndOffset !== null) {
      return { startOffset: element.contentStartOffset, endOffset: element.contentEndOffset, text };
    }
    const startOffset = this.#skipSpaceBack(this.#text.lastIndexOf('/', element.endOffset));
    return { startOffset, endOffset: element.endOffset, text: `>${text}</${element.name}>` };
  }

  #planAttribute(element: Element, name: string, value: Value): Splice[] {
    if (isObject(value) || Array.isArray(value))
      throw this.#createRefusal(element, `has a text as its attribute ${name}`);
    const present = element.attributes.find(attribute => attribute.name === name);
    const text = escapeAttribute(value ?? '');
    if (present === undefined) {
      checkName(name);
      return [{ startOffset: element.nameEndOffset, endOffset: element.nameEndOffset, text: ` ${name}="${text}"` }];
    }
    return present.value === (value ?? '')
      ? []
      : [{ startOffset: present.startOffset, endOffset: present.endOffset, text }];
  }

  #planNewChildren(element: Element, name: string, values: readonly Value[]): Splice {
    checkName(name);
    if (element.contentStartOffset === null || element.contentEndOffset === null) {
      throw this.#createRefusal(element, 'closes itself, so nothing can be put into it');
    }
    const last = element.children.at(-1);
    const lead =
      last === undefined
        ? ''
        : this.#text.slice(
            Math.max(this.#skipSpaceBack(last.startOffset), last.startOffset - MAX_LEAD),
            last.startOffset,
          );
    const at = last?.endOffset ?? element.contentStartOffset;
    return { startOffset: at, endOffset: at, text: writeElements(name, values, lead) };
  }

  /** Removes the children that are not wanted, with the white space before them. Attributes are never removed. */
  #planRemovals(element: Element, wanted: FileObject): Splice[] {
    return element.children
      .filter(child => !Object.hasOwn(wanted, child.name))
      .map(child => ({
        startOffset: this.#skipSpaceBack(child.startOffset),
        endOffset: child.endOffset,
        text: '',
      }));
  }

  /** Where the white space begins that ends at the offset. */
  #skipSpaceBack(offset: number): number {
    let start = offset;
    while (start > 0 && /\s/.test(this.#text[start - 1] ?? '')) start -= 1;
    return start;
  }

  #createRefusal(element: Element, what: string): Problem {
    const { line } = positionAt(this.#text, element.startOffset);
    return new Problem(400, `<${element.name}> at line ${line} ${what}; edit the file by hand`);
  }
}

function readElement(element: Element): Value {
  const text = element.text.trim();
  if (element.attributes.length === 0 && element.children.length === 0)
    return element.text === '' ? null : element.text;
  const members = bareObject<Value>();
  for (const { name, value } of element.attributes) members[`@${name}`] = value === '' ? null : value;
  if (text !== '') members[TEXT] = text;
  for (const [name, children] of groupChildren(element)) {
    const values = children.map(readElement);
    members[name] = values.length === 1 ? (values[0] ?? null) : values;
  }
  return members;
}

function groupChildren(element: Element): Map<string, Element[]> {
  const groups = new Map<string, Element[]>();
  for (const child of element.children) {
    const group = groups.get(child.name);
    if (group === undefined) groups.set(child.name, [child]);
    else group.push(child);
  }
  return groups;
}

/**
 * The value as an edited file returns it: every leaf is a text, and null when it is empty; a list of one is its value.
 */
function normalizeValue(value: unknown, key = ''): Value {
  if (Array.isArray(value))
    return value.length === 1 ? normalizeValue(value[0]) : value.map(member => normalizeValue(member));
  if (isObject(value))
    return bareObject(Object.entries(value).map(([name, member]) => [name, normalizeValue(member, name)]));
  const text = value === null ? '' : String(value);
  // White space around the text of an element with children or attributes is layout.
  return (key === TEXT ? text.trim() : text) || null;
}

/** Without the empty texts beside attributes and children, which are not shown. */
function withoutEmptyTexts(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutEmptyTexts);
  if (!isObject(value)) return value;
  const entries = Object.entries(value as Record<string, Value>);
  return bareObject(
    entries
      .filter(([key, member]) => key !== TEXT || member !== null)
      .map(([key, member]) => [key, withoutEmptyTexts(member)]),
  );
}

/** Whether an object has attributes or children, without which an element is a text. */
function hasMembers(value: FileObject): boolean {
  return Object.keys(value).some(key => key !== TEXT);
}

function writeElement(name: string, value: Value): string {
  checkName(name);
  if (Array.isArray(value)) return writeElements(name, value, '');
  if (!isObject(value)) return `<${name}>${escapeText(value ?? '')}</${name}>`;
  if (!hasMembers(value)) throw new Problem(400, `'${name}' would hold only text, which is sent as a text`);
  const entries = Object.entries(value as Record<string, Value>);
  const attributes = entries.filter(([key]) => key.startsWith('@'));
  const heads = attributes.map(([key, text]) => {
    checkName(key.slice(1));
    return ` ${key.slice(1)}="${escapeAttribute(requireText(key, text))}"`;
  });
  const inner = entries
    .filter(([key]) => !key.startsWith('@'))
    .map(([key, member]) => (key === TEXT ? escapeText(requireText(key, member)) : writeElement(key, member)));
  return `<${name}${heads.join('')}>${inner.join('')}</${name}>`;
}

/** One element for each value; `lead` stands before each. */
function writeElements(name: string, values: readonly Value[], lead: string): string {
  if (values.length === 0 || values.some(Array.isArray))
    throw new Problem(400, `'${name}' can be a list of texts and objects, of one at least`);
  return values.map(value => lead + writeElement(name, value)).join('');
}

function requireText(name: string, value: Value): string {
  if (typeof value === 'object' && value !== null) throw new Problem(400, `'${name}' must be a text`);
  return value ?? '';
}

function escapeAttribute(text: string): string {
  // Readers turn plain line breaks and tabs of an attribute into spaces.
  const spaces = escapeText(text).replaceAll(/[\t\n]/g, space => `&#${space.charCodeAt(0)};`);
  return spaces.replaceAll('"', '&quot;').replaceAll("'", '&apos;');
}

function escapeText(text: string): string {
  // XML 1.0 cannot represent these control characters, not even as references.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text))
    throw new Problem(400, 'Control characters cannot stand in XML');
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');
}

function checkName(name: string): void {
  if (!/^[A-Za-z_][\w.:-]*$/.test(name)) throw new Problem(400, `'${name}' cannot be the name of an element`);
}
