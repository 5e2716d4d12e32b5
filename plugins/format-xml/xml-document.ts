// Parses XML into elements with their offsets in the text. A DTD is refused, so that no entity can expand endlessly.
import { Problem } from '#core';
import { positionAt } from '#kit/text-position';

interface Attribute {
  readonly name: string;
  readonly value: string;
  /** Offset of the value's first character, after the opening quote. */
  readonly startOffset: number;
  /** Offset of the closing quote. */
  readonly endOffset: number;
}

export interface Element {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly children: readonly Element[];
  /** Text of the element without that of its children; entities are resolved. */
  readonly text: string;
  /** Offset of the `<` of the start tag. */
  readonly startOffset: number;
  /** Offset after the `>` that closes the element. */
  readonly endOffset: number;
  /** Offset after the name in the start tag. */
  readonly nameEndOffset: number;
  /** Offset after the start tag; null for a self-closing tag. */
  readonly contentStartOffset: number | null;
  /** Offset of the end tag; null for a self-closing tag. */
  readonly contentEndOffset: number | null;
  /** Whether the content holds comments or CDATA, which replacing its text would destroy. */
  readonly isMixed: boolean;
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);
const TAG_START = /<([A-Za-z_][\w.:-]*)/y;
const ATTRIBUTE = /\s+([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const TAG_END = /\s*(\/?)>/y;
const MAX_DEPTH = 100;
const DECLARATION = 'xmlns:';

/** Returns the root element. Throws a Problem 422 with line and column when the text is not valid XML. */
export function parseDocument(text: string): Element {
  return new Scanner(text).parseDocument();
}

/** The names whose prefix is not declared around them: readers that know namespaces refuse a file with such a name. */
export function undeclaredNames(root: Element): ReadonlySet<string> {
  const found = new Set<string>();
  addUndeclared(root, new Set(['xml', 'xmlns']), found);
  return found;
}

/**
 * `declared` holds the prefixes that are declared around the element, and does so again in the end. It is one set for
 * all elements, because a copy for each would take as long as a file has declarations times elements.
 */
function addUndeclared({ name, attributes, children }: Element, declared: Set<string>, found: Set<string>): void {
  const added = attributes
    .filter(attribute => attribute.value !== '' && attribute.name.startsWith(DECLARATION))
    .map(attribute => attribute.name.slice(DECLARATION.length))
    .filter(prefix => !declared.has(prefix));
  for (const prefix of added) declared.add(prefix);
  for (const given of [name, ...attributes.map(attribute => attribute.name)]) {
    const [prefix = '', local, ...rest] = given.split(':');
    if (local !== undefined && (local === '' || rest.length > 0 || !declared.has(prefix))) found.add(given);
  }
  for (const child of children) addUndeclared(child, declared, found);
  for (const prefix of added) declared.delete(prefix);
}

class Scanner {
  readonly #text: string;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parseDocument(): Element {
    this.#offset = this.#text.startsWith('\uFEFF') ? 1 : 0;
    this.#skipProlog();
    const root = this.#parseElement(0);
    this.#skipProlog();
    if (this.#offset < this.#text.length) throw this.#createProblem('something stands behind the root element');
    return root;
  }

  /** Skips what may surround the root element: the declaration, processing instructions, comments and white space. */
  #skipProlog(): void {
    for (;;) {
      this.#skip(/\s*/y);
      if (this.#text.startsWith('<!DOCTYPE', this.#offset)) throw this.#createProblem('a DOCTYPE is not accepted');
      if (!this.#skip(/<\?[\s\S]*?\?>|<!--[\s\S]*?-->/y)) return;
    }
  }

  #parseElement(depth: number): Element {
    const startOffset = this.#offset;
    const name = this.#take(TAG_START)?.[1];
    if (name === undefined) throw this.#createProblem('a start tag is expected');
    if (depth === MAX_DEPTH) throw this.#createProblem(`elements are nested deeper than ${MAX_DEPTH} levels`);
    const nameEndOffset = this.#offset;
    const attributes = this.#parseAttributes();
    const closes = this.#take(TAG_END)?.[1];
    if (closes === undefined) throw this.#createProblem(`the start tag of <${name}> is not closed`);
    if (closes === '/') {
      return {
        name,
        attributes,
        children: [],
        text: '',
        startOffset,
        endOffset: this.#offset,
        nameEndOffset,
        contentStartOffset: null,
        contentEndOffset: null,
        isMixed: false,
      };
    }
    const contentStartOffset = this.#offset;
    const children: Element[] = [];
    let text = '';
    let isMixed = false;
    for (;;) {
      const next = this.#text.indexOf('<', this.#offset);
      if (next < 0) throw this.#createProblem(`<${name}> is not closed`);
      text += this.#resolveEntities(this.#text.slice(this.#offset, next));
      this.#offset = next;
      if (this.#text.startsWith('</', next)) break;
      const special = this.#take(/<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>/y);
      if (special === undefined) children.push(this.#parseElement(depth + 1));
      else {
        text += withLineFeeds(special[1] ?? '');
        isMixed = true;
      }
    }
    const contentEndOffset = this.#offset;
    const endTag = this.#take(/<\/([A-Za-z_][\w.:-]*)\s*>/y);
    if (endTag?.[1] !== name) throw this.#createProblem(`</${name}> is expected`);
    return {
      name,
      attributes,
      children,
      text,
      startOffset,
      endOffset: this.#offset,
      nameEndOffset,
      contentStartOffset,
      contentEndOffset,
      isMixed,
    };
  }

  #parseAttributes(): Attribute[] {
    const attributes: Attribute[] = [];
    for (let found = this.#take(ATTRIBUTE); found !== undefined; found = this.#take(ATTRIBUTE)) {
      const [, name = '', double, single] = found;
      const raw = double ?? single ?? '';
      const endOffset = this.#offset - 1;
      attributes.push({ name, value: this.#resolveEntities(raw), startOffset: endOffset - raw.length, endOffset });
    }
    const names = new Set(attributes.map(({ name }) => name));
    if (names.size < attributes.length) throw this.#createProblem('an attribute stands twice');
    return attributes;
  }

  #resolveEntities(raw: string): string {
    const text = withLineFeeds(raw);
    return text.replaceAll(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));|&/g, (_whole, decimal, hexadecimal, name) => {
      const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
      const character = name === undefined ? characterOf(code) : ENTITIES.get(name);
      if (character === undefined) throw this.#createProblem('an entity that is not known');
      return character;
    });
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#offset += found[0].length;
    return found;
  }

  #skip(pattern: RegExp): boolean {
    return (this.#take(pattern)?.[0].length ?? 0) > 0;
  }

  #createProblem(what: string): Problem {
    const { line, column } = positionAt(this.#text, this.#offset);
    return new Problem(422, `The file is not valid XML: ${what} at line ${line}, column ${column}`);
  }
}

/** Every reader of XML takes line ends for line feeds; a carriage return that is meant is written as an entity. */
function withLineFeeds(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/** undefined for a code that is no character: zero, half of a surrogate pair, and one beyond Unicode. */
function characterOf(code: number): string | undefined {
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : undefined;
}
