// XML files, edited in their own text: the range of a text or an attribute is replaced, everything else keeps its bytes.

import { Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { isObject } from '#kit/plain-object';
import type { ConfigFormat, EditedText, EditMode, FileObject } from '../config-files/contract.ts';
import { type Element, parseDocument, placeOf } from './xml-document.ts';

type Value = string | null | FileObject | Value[];

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export const xmlFormat: ConfigFormat = {
  name: 'xml',
  extensions: ['.xml'],
  parse(text) {
    const root = parseDocument(text);
    return { [root.name]: valueOfElement(root) };
  },
  edit,
  readBack: (updates, text) => normalized(withRoot(updates, parseDocument(text).name)) as FileObject,
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
  const wanted = normalized(withRoot(updates, root.name)) as FileObject;
  const others = Object.keys(wanted).filter(name => name !== root.name);
  if (others.length > 0) throw new Problem(400, `The root of the file is ${root.name}, not ${others.join(', ')}`);
  const splices = new Edits(text, mode).ofElement(root, wanted[root.name] as Value);
  const sorted = splices.toSorted((a, b) => b.start - a.start);
  const edited = sorted.reduce(
    (before, splice) => before.slice(0, splice.start) + splice.text + before.slice(splice.end),
    text,
  );
  return { text: edited, changed: splices.length };
}

/** Updates without the root's name are meant for what is inside it. */
function withRoot(updates: FileObject, root: string): FileObject {
  return Object.hasOwn(updates, root) && Object.keys(updates).length === 1 ? updates : { [root]: updates };
}

class Edits {
  readonly #text: string;
  readonly #mode: EditMode;

  constructor(text: string, mode: EditMode) {
    this.#text = text;
    this.#mode = mode;
  }

  ofElement(element: Element, wanted: Value): Splice[] {
    if (deepEqual(valueOfElement(element), wanted)) return [];
    if (Array.isArray(wanted)) throw this.#refusal(element, 'is no list');
    if (!isObject(wanted)) return [this.#ofText(element, wanted)];
    const splices = Object.entries(wanted).flatMap(([key, value]) => this.#ofMember(element, key, value as Value));
    return this.#mode === 'replace' ? [...splices, ...this.#removed(element, wanted)] : splices;
  }

  #ofMember(element: Element, key: string, value: Value): Splice[] {
    if (key === '#text') return element.text.trim() === value ? [] : [this.#ofText(element, value)];
    if (key.startsWith('@')) return this.#ofAttribute(element, key.slice(1), value);
    const present = element.children.filter(child => child.name === key);
    const values = Array.isArray(value) ? value : [value];
    if (present.length === 0) return values.length === 0 ? [] : [this.#newChildren(element, key, values)];
    if (present.length !== values.length)
      throw this.#refusal(element, `holds ${present.length} elements ${key}, not ${values.length}`);
    return present.flatMap((child, index) => this.ofElement(child, values[index] ?? null));
  }

  #ofText(element: Element, value: Value): Splice {
    if (element.children.length > 0 || element.isMixed) throw this.#refusal(element, 'holds more than text');
    if (isObject(value) || Array.isArray(value)) throw this.#refusal(element, 'holds only text');
    const text = escaped(value ?? '');
    if (element.contentStart !== null && element.contentEnd !== null) {
      return { start: element.contentStart, end: element.contentEnd, text };
    }
    const slash = this.#text.lastIndexOf('/', element.end);
    const tagEnd = this.#text.slice(0, slash).trimEnd().length;
    return { start: tagEnd, end: element.end, text: `>${text}</${element.name}>` };
  }

  #ofAttribute(element: Element, name: string, value: Value): Splice[] {
    if (isObject(value) || Array.isArray(value)) throw this.#refusal(element, `has a text as its attribute ${name}`);
    const present = element.attributes.find(attribute => attribute.name === name);
    const text = escaped(value ?? '')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&apos;');
    if (present === undefined) {
      checkName(name);
      return [{ start: element.nameEnd, end: element.nameEnd, text: ` ${name}="${text}"` }];
    }
    return present.value === (value ?? '') ? [] : [{ start: present.start, end: present.end, text }];
  }

  #newChildren(element: Element, name: string, values: readonly Value[]): Splice {
    checkName(name);
    if (element.contentStart === null || element.contentEnd === null) {
      throw this.#refusal(element, 'closes itself, so nothing can be put into it');
    }
    const last = element.children.at(-1);
    const lead = last === undefined ? '' : (/\s*$/.exec(this.#text.slice(0, last.start))?.[0] ?? '');
    const at = last?.end ?? element.contentStart;
    return { start: at, end: at, text: values.map(value => lead + written(name, value)).join('') };
  }

  /** Elements with the white space before them. Attributes stay. */
  #removed(element: Element, wanted: FileObject): Splice[] {
    return element.children
      .filter(child => !Object.hasOwn(wanted, child.name))
      .map(child => ({ start: this.#text.slice(0, child.start).trimEnd().length, end: child.end, text: '' }));
  }

  #refusal(element: Element, what: string): Problem {
    const { line } = placeOf(this.#text, element.start);
    return new Problem(400, `<${element.name}> at line ${line} ${what}; edit the file by hand`);
  }
}

/** Text of a leaf, null when it is empty; an object of attributes, texts and children otherwise. */
function valueOfElement(element: Element): Value {
  const text = element.text.trim();
  if (element.attributes.length === 0 && element.children.length === 0)
    return element.text === '' ? null : element.text;
  const members: FileObject = {};
  for (const { name, value } of element.attributes) members[`@${name}`] = value === '' ? null : value;
  if (text !== '') members['#text'] = text;
  for (const child of element.children) {
    const value = valueOfElement(child);
    const before = members[child.name];
    if (before === undefined) members[child.name] = value;
    else members[child.name] = Array.isArray(before) ? [...before, value] : [before, value];
  }
  return members;
}

/** Every leaf is text; an empty one is null. */
function normalized(value: unknown): Value {
  if (Array.isArray(value)) return value.map(normalized);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, normalized(member)]));
  return value === null || value === '' ? null : String(value);
}

function written(name: string, value: Value): string {
  if (isObject(value)) {
    const entries = Object.entries(value) as [string, Value][];
    const attributes = entries.filter(([key]) => key.startsWith('@'));
    const heads = attributes.map(([key, text]) => {
      checkName(key.slice(1));
      return ` ${key.slice(1)}="${escaped(String(text ?? '')).replaceAll('"', '&quot;')}"`;
    });
    const inner = entries
      .filter(([key]) => !key.startsWith('@'))
      .map(([key, member]) => (key === '#text' ? escaped(String(member ?? '')) : written(key, member)));
    return `<${name}${heads.join('')}>${inner.join('')}</${name}>`;
  }
  checkName(name);
  if (Array.isArray(value)) return value.map(member => written(name, member)).join('');
  return `<${name}>${escaped(value ?? '')}</${name}>`;
}

function escaped(text: string): string {
  // XML 1.0 has no form for them.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text))
    throw new Problem(400, 'Control characters cannot stand in XML');
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function checkName(name: string): void {
  if (!/^[A-Za-z_][\w.:-]*$/.test(name)) throw new Problem(400, `'${name}' cannot be the name of an element`);
}
