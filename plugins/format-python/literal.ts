// Literals of Python, read without running anything: texts, numbers, True, False, None, lists, tuples and dicts of them.

type PythonValue = string | number | boolean | null | readonly PythonValue[] | { readonly [key: string]: PythonValue };

export interface Literal {
  readonly value: PythonValue;
  readonly kind: 'scalar' | 'list' | 'tuple' | 'dict';
  /** Behind the last character. */
  readonly end: number;
}

const SPACE = /(?:[ \t\f\r\n]|#[^\r\n]*|\\\r?\n)*/y;
const NUMBER =
  /[-+]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?)/y;
const TEXT = /([rRuU]?)('''|"""|'|")/y;
const WORD = /(?:True|False|None)(?!\w)/y;
const WORDS: Readonly<Record<string, PythonValue>> = { True: true, False: false, None: null };
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
const MAX_DEPTH = 100;

/** The literal at an offset; null when something else stands there. */
export function readLiteral(text: string, at: number, depth = 0): Literal | null {
  if (depth > MAX_DEPTH) return null;
  const word = match(WORD, text, at);
  if (word !== null) return { value: WORDS[word[0]] ?? null, kind: 'scalar', end: at + word[0].length };
  if (match(TEXT, text, at) !== null) return readTexts(text, at);
  const number = match(NUMBER, text, at);
  if (number !== null) {
    const value = Number(number[0].replaceAll('_', ''));
    return Number.isFinite(value) ? { value, kind: 'scalar', end: at + number[0].length } : null;
  }
  if (text[at] === '[') return readItems(text, at, ']', 'list', depth);
  if (text[at] === '(') return readItems(text, at, ')', 'tuple', depth);
  if (text[at] === '{') return readDict(text, at, depth);
  return null;
}

/** Behind white space, comments and joined lines. */
export function skipSpace(text: string, at: number): number {
  return at + (match(SPACE, text, at)?.[0].length ?? 0);
}

/** Behind the end of the text that begins at an offset; null when it is not closed. */
export function endOfText(text: string, at: number): number | null {
  const [opening = '', quote = ''] = match(/[rRbBuUfF]{0,2}('''|"""|'|")/y, text, at) ?? [];
  if (opening === '') return null;
  for (let index = at + opening.length; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text.startsWith(quote, index)) return index + quote.length;
    else if (quote.length === 1 && text[index] === '\n') return null;
  }
  return null;
}

/** A Python spelling of the value. */
export function writeLiteral(value: unknown, kind: Literal['kind'] = 'scalar', quote = "'"): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return writeText(value, quote);
  if (Array.isArray(value)) {
    const items = value.map(item => writeLiteral(item, 'scalar', quote));
    if (kind !== 'tuple') return `[${items.join(', ')}]`;
    return items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`;
  }
  const entries = Object.entries(value as Record<string, unknown>);
  return `{${entries.map(([key, member]) => `${writeText(key, quote)}: ${writeLiteral(member, 'scalar', quote)}`).join(', ')}}`;
}

function writeText(text: string, quote: string): string {
  const body = text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll(/\p{Cc}/gu, character => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return quote + body + quote;
}

/** Texts that stand side by side are one. */
function readTexts(text: string, at: number): Literal | null {
  let value = '';
  let end = at;
  for (let next = at; ; next = skipSpace(text, end)) {
    // Outside brackets a text that begins on another line is another statement.
    if (next !== at && text.slice(end, next).includes('\n')) break;
    const opening = match(TEXT, text, next);
    if (opening === null) break;
    const closed = endOfText(text, next);
    if (closed === null) return null;
    const [whole, prefix = '', quote = ''] = opening;
    const raw = text.slice(next + whole.length, closed - quote.length).replaceAll('\r\n', '\n');
    const resolved = prefix.toLowerCase() === 'r' ? raw : unescaped(raw);
    if (resolved === null) return null;
    value += resolved;
    end = closed;
  }
  return { value, kind: 'scalar', end };
}

/** null for an escape that has no plain meaning here, such as a name of a character. */
function unescaped(raw: string): string | null {
  let known = true;
  const text = raw.replaceAll(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g,
    (whole: string, x?: string, u?: string, long?: string, octal?: string, single?: string) => {
      const hexadecimal = x ?? u ?? long;
      if (hexadecimal !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(hexadecimal, 16), 0x10ffff));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (single === 'N') known = false;
      return ESCAPES[single ?? ''] ?? whole;
    },
  );
  return known ? text : null;
}

function readItems(text: string, at: number, close: string, kind: 'list' | 'tuple', depth: number): Literal | null {
  const items: PythonValue[] = [];
  let commas = 0;
  for (let next = skipSpace(text, at + 1); ; next = skipSpace(text, next)) {
    if (text[next] === close) {
      // One value in parentheses without a comma is just that value.
      const [only] = items;
      if (kind === 'tuple' && items.length === 1 && commas === 0 && only !== undefined)
        return { value: only, kind: 'scalar', end: next + 1 };
      return { value: items, kind, end: next + 1 };
    }
    if (items.length > commas) return null;
    const item = readLiteral(text, next, depth + 1);
    if (item === null) return null;
    items.push(item.value);
    next = skipSpace(text, item.end);
    if (text[next] === ',') {
      commas += 1;
      next += 1;
    }
  }
}

function readDict(text: string, at: number, depth: number): Literal | null {
  const members: Record<string, PythonValue> = {};
  for (let next = skipSpace(text, at + 1); ; next = skipSpace(text, next)) {
    if (text[next] === '}') return { value: members, kind: 'dict', end: next + 1 };
    const key = readLiteral(text, next, depth + 1);
    if (key === null || typeof key.value !== 'string' || key.value === '__proto__') return null;
    next = skipSpace(text, key.end);
    if (text[next] !== ':') return null;
    const member = readLiteral(text, skipSpace(text, next + 1), depth + 1);
    if (member === null) return null;
    members[key.value] = member.value;
    next = skipSpace(text, member.end);
    if (text[next] === ',') next += 1;
    else if (text[next] !== '}') return null;
  }
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
