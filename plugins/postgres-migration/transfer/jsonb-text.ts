// JSON as PostgreSQL writes a `jsonb`: keys sorted by length and bytes, the last of several equal keys, numbers as
// spelt but without exponents.
import { MAX_NESTING } from '#kit/nesting-limit';
import { numericText } from './number-text.ts';
import { ValueFault } from './value-fault.ts';

const BLANK = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
/** NUL and lone surrogates. */
const NOT_IN_JSONB = /[\0\ud800-\udfff]/u;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '"': '\\"',
  '\\': '\\\\',
};

/** `text` must be valid JSON. Throws a ValueFault when it nests too deep or holds what a `jsonb` cannot. */
export function jsonbText(text: string): string {
  return new JsonbWriter(text).value(0);
}

class JsonbWriter {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): string {
    if (depth > MAX_NESTING) throw new ValueFault('json');
    this.#take(BLANK);
    const first = this.#text[this.#at];
    const written =
      first === '{'
        ? this.#object(depth)
        : first === '['
          ? this.#list(depth)
          : first === '"'
            ? stringText(this.#string())
            : this.#take(WORD) || numericText(this.#take(NUMBER), null).text;
    this.#take(BLANK);
    return written;
  }

  #object(depth: number): string {
    const members = new Map<string, string>();
    this.#each('}', () => {
      this.#take(BLANK);
      const key = this.#string();
      this.#take(BLANK);
      this.#at += 1;
      members.set(key, this.value(depth + 1));
    });
    const sorted = [...members].map(([key, value]) => ({ bytes: Buffer.from(key), key, value }));
    sorted.sort((one, other) => one.bytes.length - other.bytes.length || Buffer.compare(one.bytes, other.bytes));
    return `{${sorted.map(({ key, value }) => `${stringText(key)}: ${value}`).join(', ')}}`;
  }

  #list(depth: number): string {
    const items: string[] = [];
    this.#each(']', () => items.push(this.value(depth + 1)));
    return `[${items.join(', ')}]`;
  }

  /** Reads to the closing bracket; the present character is the opening one. */
  #each(end: string, read: () => void): void {
    this.#at += 1;
    this.#take(BLANK);
    while (this.#text[this.#at] !== end) {
      read();
      if (this.#text[this.#at] === ',') this.#at += 1;
    }
    this.#at += 1;
  }

  #string(): string {
    const text = JSON.parse(this.#take(STRING)) as string;
    if (NOT_IN_JSONB.test(text)) throw new ValueFault('json');
    return text;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }
}

function stringText(text: string): string {
  const escaped = text.replace(
    /["\\\x00-\x1f]/g,
    character => SHORT_ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}
