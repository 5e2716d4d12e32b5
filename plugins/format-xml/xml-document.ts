// An XML document as elements with the places where they stand in the text. No DTD, so that nothing in it can grow.
import { Problem } from '#core';

interface Attribute {
  readonly name: string;
  readonly value: string;
  /** The value between its quotes. */
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

export interface Element {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly children: readonly Element[];
  /** Text of the element itself, entities resolved. */
  readonly text: string;
  /** From `<` to behind the last `>`. */
  readonly start: number;
  readonly end: number;
  /** Behind the name of the start tag. */
  readonly nameEnd: number;
  /** Between the tags; both null for a tag that closes itself. */
  readonly contentStart: number | null;
  readonly contentEnd: number | null;
  /** Comments or CDATA stand between the tags, so that they are more than text. */
  readonly isMixed: boolean;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const TAG = /<([A-Za-z_][\w.:-]*)((?:\s+[A-Za-z_][\w.:-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /\s+([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;
const MAX_DEPTH = 200;

/** Throws a Problem 422 with line and column. */
export function parseDocument(text: string): Element {
  return new Scanner(text).document();
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Element {
    this.#at = this.#text.startsWith('\uFEFF') ? 1 : 0;
    this.#skipAround();
    const root = this.#element(0);
    this.#skipAround();
    if (this.#at < this.#text.length) throw this.#fault('something stands behind the root element');
    return root;
  }

  /** Declaration, comments and white space outside the root. */
  #skipAround(): void {
    for (;;) {
      this.#skip(/\s*/y);
      if (this.#text.startsWith('<!DOCTYPE', this.#at)) throw this.#fault('a DOCTYPE is not accepted');
      if (!this.#skip(/<\?[\s\S]*?\?>|<!--[\s\S]*?-->/y)) return;
    }
  }

  #element(depth: number): Element {
    TAG.lastIndex = this.#at;
    const found = TAG.exec(this.#text);
    if (found === null) throw this.#fault('a start tag is expected');
    if (depth > MAX_DEPTH) throw this.#fault('elements are nested too deeply');
    const [whole, name = '', attributeText = '', closes = ''] = found;
    const start = this.#at;
    const nameEnd = start + 1 + name.length;
    const attributes = this.#attributes(attributeText, nameEnd);
    this.#at += whole.length;
    if (closes === '/') {
      return {
        name,
        attributes,
        children: [],
        text: '',
        start,
        end: this.#at,
        nameEnd,
        contentStart: null,
        contentEnd: null,
        isMixed: false,
      };
    }
    const contentStart = this.#at;
    const children: Element[] = [];
    let text = '';
    let isMixed = false;
    for (;;) {
      const next = this.#text.indexOf('<', this.#at);
      if (next < 0) throw this.#fault(`<${name}> is not closed`);
      text += this.#resolved(this.#text.slice(this.#at, next));
      this.#at = next;
      if (this.#text.startsWith('</', next)) break;
      const special = this.#take(/<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>/y);
      if (special === undefined) children.push(this.#element(depth + 1));
      else {
        text += special[1] ?? '';
        isMixed = true;
      }
    }
    const contentEnd = this.#at;
    const end = this.#take(/<\/([A-Za-z_][\w.:-]*)\s*>/y);
    if (end?.[1] !== name) throw this.#fault(`</${name}> is expected`);
    return { name, attributes, children, text, start, end: this.#at, nameEnd, contentStart, contentEnd, isMixed };
  }

  #attributes(text: string, offset: number): Attribute[] {
    const attributes = [...text.matchAll(ATTRIBUTE)].map(found => {
      const [whole, name = '', double, single] = found;
      const raw = double ?? single ?? '';
      const end = offset + (found.index ?? 0) + whole.length - 1;
      return {
        name,
        value: this.#resolved(raw),
        start: end - raw.length,
        end,
        quote: double === undefined ? "'" : '"',
      };
    });
    const names = new Set(attributes.map(({ name }) => name));
    if (names.size < attributes.length) throw this.#fault('an attribute stands twice');
    return attributes;
  }

  #resolved(raw: string): string {
    return raw.replaceAll(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));|&/g, (_whole, decimal, hexadecimal, name) => {
      const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
      const character =
        name === undefined ? (code <= 0x10ffff ? String.fromCodePoint(code) : undefined) : ENTITIES[name];
      if (character === undefined) throw this.#fault('an entity that is not known');
      return character;
    });
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#at += found[0].length;
    return found;
  }

  #skip(pattern: RegExp): boolean {
    return (this.#take(pattern)?.[0].length ?? 0) > 0;
  }

  #fault(what: string): Problem {
    const { line, column } = placeOf(this.#text, this.#at);
    return new Problem(422, `The file is not valid XML: ${what} at line ${line}, column ${column}`);
  }
}

export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
