// Edits XML files: the range of a text or an attribute is replaced, every other byte is kept.

import { Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { isObject } from '#kit/plain-object';
import { positionAt } from '#kit/text-position';
import type { ConfigFormat, EditedText, EditMode, FileObject } from '../config-files/contract.ts';
import { type Element, parseDocument } from './xml-document.ts';

/** A leaf is a text or null; an object holds attributes as `@name`, text beside them as `#text`, and children. */
type Value = string | null | FileObject | Value[];

/** Replaces the range from `startOffset` up to, but not including, `endOffset`. */
interface Splice {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly text: string;
}

export const xmlFormat: ConfigFormat = {
  name: 'xml',
  extensions: ['.xml'],
  parse(text) {
    const root = parseDocument(text);
    return { [root.name]: readElement(root) };
  },
  edit,
  readBack: (updates, text) => normalizeValue(withRoot(updates, parseDocument(text).name)) as FileObject,
  readUpdate(text) {
    try {
      if (text.trimStart().startsWith('<')) {
        parseDocument(text);
        return { kind: 'file', text };
      }
      const values: unknown = JSON.parse(text);
      if (!isObject(values)) throw new Error('a JSON object is expected');
      return { kind: 'values', values };
    } catch (error) {
      throw new Problem(400, `The update is neither a JSON object nor valid XML: ${(error as Error).message}`, {
        cause: error,
      });
    }
  },
};

function edit(text: string, updates: FileObject, mode: EditMode): EditedText {
  const root = parseDocument(text);
  const wanted = normalizeValue(withRoot(updates, root.name)) as FileObject;
  const others = Object.keys(wanted).filter(name => name !== root.name);
  if (others.length > 0) throw new Problem(400, `The root of the file is ${root.name}, not ${others.join(', ')}`);
  const splices = new SplicePlanner(text, mode).planElement(root, wanted[root.name] as Value);
  const sorted = splices.toSorted((a, b) => b.startOffset - a.startOffset);
  const edited = sorted.reduce(
    (before, splice) => before.slice(0, splice.startOffset) + splice.text + before.slice(splice.endOffset),
    text,
  );
  return { text: edited, changed: splices.length };
}

/** Updates may leave out the root's name; they then concern the content of the root. */
function withRoot(updates: FileObject, root: string): FileObject {
  return Object.hasOwn(updates, root) && Object.keys(updates).length === 1 ? updates : { [root]: updates };
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
    if (deepEqual(readElement(element), wanted)) return [];
    if (Array.isArray(wanted)) throw this.#createRefusal(element, 'is no list');
    if (!isObject(wanted)) return [this.#planText(element, wanted)];
    const splices = Object.entries(wanted).flatMap(([key, value]) => this.#planMember(element, key, value as Value));
    return this.#mode === 'replace' ? [...splices, ...this.#planRemovals(element, wanted)] : splices;
  }

  #planMember(element: Element, key: string, value: Value): Splice[] {
    if (key === '#text') return element.text.trim() === value ? [] : [this.#planText(element, value)];
    if (key.startsWith('@')) return this.#planAttribute(element, key.slice(1), value);
    const present = element.children.filter(child => child.name === key);
    const values = Array.isArray(value) ? value : [value];
    if (present.length === 0) return values.length === 0 ? [] : [this.#planNewChildren(element, key, values)];
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
    const slash = this.#text.lastIndexOf('/', element.endOffset);
    const tagEnd = this.#text.slice(0, slash).trimEnd().length;
    return { startOffset: tagEnd, endOffset: element.endOffset, text: `>${text}</${element.name}>` };
  }

  #planAttribute(element: Element, name: string, value: Value): Splice[] {
    if (isObject(value) || Array.isArray(value))
      throw this.#createRefusal(element, `has a text as its attribute ${name}`);
    const present = element.attributes.find(attribute => attribute.name === name);
    const text = escapeText(value ?? '')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&apos;');
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
    const lead = last === undefined ? '' : (/\s*$/.exec(this.#text.slice(0, last.startOffset))?.[0] ?? '');
    const at = last?.endOffset ?? element.contentStartOffset;
    return { startOffset: at, endOffset: at, text: values.map(value => lead + writeElement(name, value)).join('') };
  }

  /** Removes the children that are not wanted, with the white space before them. Attributes are never removed. */
  #planRemovals(element: Element, wanted: FileObject): Splice[] {
    return element.children
      .filter(child => !Object.hasOwn(wanted, child.name))
      .map(child => ({
        startOffset: this.#text.slice(0, child.startOffset).trimEnd().length,
        endOffset: child.endOffset,
        text: '',
      }));
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
  const members: FileObject = {};
  for (const { name, value } of element.attributes) members[`@${name}`] = value === '' ? null : value;
  if (text !== '') members['#text'] = text;
  for (const child of element.children) {
    const value = readElement(child);
    const before = members[child.name];
    if (before === undefined) members[child.name] = value;
    else members[child.name] = Array.isArray(before) ? [...before, value] : [before, value];
  }
  return members;
}

/** The value as an edited file returns it: every leaf is a text, and null when it is empty. */
function normalizeValue(value: unknown): Value {
  if (Array.isArray(value)) return value.map(normalizeValue);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, normalizeValue(member)]));
  return value === null || value === '' ? null : String(value);
}

function writeElement(name: string, value: Value): string {
  if (isObject(value)) {
    const entries = Object.entries(value) as [string, Value][];
    const attributes = entries.filter(([key]) => key.startsWith('@'));
    const heads = attributes.map(([key, text]) => {
      checkName(key.slice(1));
      return ` ${key.slice(1)}="${escapeText(String(text ?? '')).replaceAll('"', '&quot;')}"`;
    });
    const inner = entries
      .filter(([key]) => !key.startsWith('@'))
      .map(([key, member]) => (key === '#text' ? escapeText(String(member ?? '')) : writeElement(key, member)));
    return `<${name}${heads.join('')}>${inner.join('')}</${name}>`;
  }
  checkName(name);
  if (Array.isArray(value)) return value.map(member => writeElement(name, member)).join('');
  return `<${name}>${escapeText(value ?? '')}</${name}>`;
}

function escapeText(text: string): string {
  // XML 1.0 cannot represent these control characters, not even as references.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text))
    throw new Problem(400, 'Control characters cannot stand in XML');
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function checkName(name: string): void {
  if (!/^[A-Za-z_][\w.:-]*$/.test(name)) throw new Problem(400, `'${name}' cannot be the name of an element`);
}
