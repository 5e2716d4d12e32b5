// Parses and writes Python literals without running code: strings, numbers, True, False, None, lists, tuples and dicts.
import { bareObject } from '#kit/plain-object';

type PythonValue = string | number | boolean | null | readonly PythonValue[] | { readonly [key: string]: PythonValue };

export interface Literal {
  readonly value: PythonValue;
  readonly kind: 'scalar' | 'list' | 'tuple' | 'dict';
  readonly startOffset: number;
  /** Offset after the literal's last character. */
  readonly endOffset: number;
  /** The members between its brackets; none for a scalar. */
  readonly members: readonly Member[];
}

export interface Member {
  /** null for an item of a list or a tuple. */
  readonly key: string | null;
  /** Offset of the key, or of an item without one. */
  readonly startOffset: number;
  readonly literal: Literal;
}

const WHITE_SPACE = /[ \t\f\r\n]+|#[^\r\n]*|\\\r?\n/y;
const NUMBER =
  /[-+]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?)/y;
const STRING_START = /([rRuU]?)('''|"""|'|")/y;
const KEYWORD = /(?:True|False|None)(?!\w)/y;
const KEYWORD_VALUES: Readonly<Record<string, PythonValue>> = { True: true, False: false, None: null };
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\n': '',
};
/** Brackets that are nested deeper are not read. */
export const MAX_DEPTH = 100;

/** The literal that begins at an offset; null when there is none, or when it is nested deeper than 100 levels. */
export function readLiteral(text: string, at: number, depth = 0): Literal | null {
  if (depth > MAX_DEPTH) return null;
  const word = match(KEYWORD, text, at);
  if (word !== null) return scalar(KEYWORD_VALUES[word[0]] ?? null, at, at + word[0].length);
  if (match(STRING_START, text, at) !== null) return readStrings(text, at);
  const number = match(NUMBER, text, at);
  if (number !== null) {
    const value = Number(number[0].replaceAll('_', ''));
    return Number.isFinite(value) ? scalar(value, at, at + number[0].length) : null;
  }
  if (text[at] === '[') return readItems(text, at, ']', 'list', depth);
  if (text[at] === '(') return readItems(text, at, ')', 'tuple', depth);
  if (text[at] === '{') return readDict(text, at, depth);
  return null;
}

/** The offset after white space, comments and escaped line breaks. */
export function skipSpace(text: string, at: number): number {
  let end = at;
  for (let found = match(WHITE_SPACE, text, end); found !== null; found = match(WHITE_SPACE, text, end)) {
    end += found[0].length;
  }
  return end;
}

/** The offset after the string that begins at `at`; null when no string begins there or it is not closed. */
export function findStringEnd(text: string, at: number): number | null {
  const [opening = '', quote = ''] = match(/[rRbBuUfF]{0,2}('''|"""|'|")/y, text, at) ?? [];
  if (opening === '') return null;
  for (let index = at + opening.length; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text.startsWith(quote, index)) return index + quote.length;
    else if (quote.length === 1 && text[index] === '\n') return null;
  }
  return null;
}

/** Writes a value as Python source: arrays as lists, or as a tuple for that kind; `quote` delimits strings. */
export function writeLiteral(value: unknown, kind: Literal['kind'] = 'scalar', quote = "'"): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return writeString(value, quote);
  if (Array.isArray(value)) {
    const items = value.map(item => writeLiteral(item, 'scalar', quote));
    if (kind !== 'tuple') return `[${items.join(', ')}]`;
    return items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`;
  }
  const entries = Object.entries(value as Record<string, unknown>);
  return `{${entries.map(([key, member]) => `${writeString(key, quote)}: ${writeLiteral(member, 'scalar', quote)}`).join(', ')}}`;
}

function writeString(text: string, quote: string): string {
  const body = text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll(/\p{Cc}/gu, character => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
    // UTF-8 cannot hold half of a surrogate pair.
    .replaceAll(/\p{Cs}/gu, half => `\\u${half.charCodeAt(0).toString(16)}`);
  return quote + body + quote;
}

/** Reads a string and the strings that directly follow it: Python joins adjacent strings to one. */
function readStrings(text: string, at: number): Literal | null {
  let value = '';
  let end = at;
  for (let next = at; ; next = skipSpace(text, end)) {
    // Outside brackets, a string that begins on another line belongs to another statement.
    if (next !== at && text.slice(end, next).includes('\n')) break;
    const opening = match(STRING_START, text, next);
    if (opening === null) break;
    const stringEnd = findStringEnd(text, next);
    if (stringEnd === null) return null;
    const [whole, prefix = '', quote = ''] = opening;
    const raw = text.slice(next + whole.length, stringEnd - quote.length).replaceAll('\r\n', '\n');
    const resolved = prefix.toLowerCase() === 'r' ? raw : unescapeString(raw);
    if (resolved === null) return null;
    value += resolved;
    end = stringEnd;
  }
  return scalar(value, at, end);
}

/** Resolves escapes. null for `\N{...}`, because the names of characters are not known here. */
function unescapeString(raw: string): string | null {
  let isResolved = true;
  const text = raw.replaceAll(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g,
    (whole: string, x?: string, u?: string, long?: string, octal?: string, single?: string) => {
      const hexadecimal = x ?? u ?? long;
      if (hexadecimal !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(hexadecimal, 16), 0x10ffff));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (single === 'N') isResolved = false;
      return ESCAPES[single ?? ''] ?? whole;
    },
  );
  return isResolved ? text : null;
}

function readItems(text: string, at: number, close: string, kind: 'list' | 'tuple', depth: number): Literal | null {
  const members: Member[] = [];
  let commas = 0;
  for (let next = skipSpace(text, at + 1); ; next = skipSpace(text, next)) {
    if (text[next] === close) {
      // Without a comma, parentheses around one value make no tuple.
      const [only] = members;
      if (kind === 'tuple' && members.length === 1 && commas === 0 && only !== undefined)
        return scalar(only.literal.value, at, next + 1);
      return { value: members.map(literalValue), kind, startOffset: at, endOffset: next + 1, members };
    }
    if (members.length > commas) return null;
    const literal = readLiteral(text, next, depth + 1);
    if (literal === null) return null;
    members.push({ key: null, startOffset: next, literal });
    next = skipSpace(text, literal.endOffset);
    if (text[next] === ',') {
      commas += 1;
      next += 1;
    }
  }
}

function readDict(text: string, at: number, depth: number): Literal | null {
  const members: Member[] = [];
  for (let next = skipSpace(text, at + 1); ; next = skipSpace(text, next)) {
    if (text[next] === '}') {
      const value = bareObject(members.map(member => [member.key ?? '', literalValue(member)] as const));
      return { value, kind: 'dict', startOffset: at, endOffset: next + 1, members };
    }
    const startOffset = next;
    const key = readLiteral(text, next, depth + 1);
    if (key === null || typeof key.value !== 'string') return null;
    next = skipSpace(text, key.endOffset);
    if (text[next] !== ':') return null;
    const literal = readLiteral(text, skipSpace(text, next + 1), depth + 1);
    if (literal === null) return null;
    members.push({ key: key.value, startOffset, literal });
    next = skipSpace(text, literal.endOffset);
    if (text[next] === ',') next += 1;
    else if (text[next] !== '}') return null;
  }
}

function scalar(value: PythonValue, startOffset: number, endOffset: number): Literal {
  return { value, kind: 'scalar', startOffset, endOffset, members: [] };
}

function literalValue({ literal }: Member): PythonValue {
  return literal.value;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
