// Writes values as YAML, so that parsers of YAML 1.1 and 1.2 read the same values.
import { Document, Scalar, stringify, visit } from 'yaml';

/**
 * Texts that YAML 1.1 parsers read as booleans, null, numbers or times, and those that merge mappings, stand for a
 * default, or begin or end a document; they are quoted when they are written.
 */
const AMBIGUOUS = [
  /^(y|n|yes|no|on|off|true|false|null|~|=|<<)$/i,
  /^[-+]?0[box][\da-f_]+$/i,
  /^[-+]?\.?\d[\d_]*(\.[\d_]*)?(e[-+]?\d+)?$/i,
  /^[-+]?\d[\d_]*(:[0-5]?\d)+(\.\d*)?$/,
  /^\d{4}-\d\d?-\d\d?([t\s].*)?$/i,
  /^(---|\.\.\.)(\s.*)?$/,
];

/** What parsers refuse, or take for the end of a line, wherever it is not escaped. */
const UNPRINTABLE = /[^\P{Cc}\n]|[\p{Cs}\u2028\u2029\ufeff\ufffe\uffff]/u;
/** Those of these characters that the library does not escape. */
const UNESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Texts that need no quotes, unless they are ambiguous. */
const WORD = /^[a-z_][\w./-]*$/i;

/** No text is folded, because folded lines would need an indentation of their own. */
const STYLE = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER } as const;

/** Writes members and items that have lines of their own. */
export class YamlWriter {
  readonly #lineEnding: string;

  constructor(lineEnding: string) {
    this.#lineEnding = lineEnding;
  }

  /** The lines of a member that is added to a block mapping. */
  member(key: string, value: unknown, indent: number): string {
    const name = ' '.repeat(indent) + formatInline(key, false);
    return needsBlock(value)
      ? `${name}:${this.#lineEnding}${this.block(value, indent + 2)}`
      : `${name}: ${formatInline(value, false)}${this.#lineEnding}`;
  }

  /** The lines of an item that is added to a block sequence. */
  item(value: unknown, indent: number): string {
    return needsBlock(value)
      ? this.block([value], indent)
      : `${' '.repeat(indent)}- ${formatInline(value, false)}${this.#lineEnding}`;
  }

  /** The lines of an item with an anchor, and with a comment on the line of the dash. */
  markedItem(value: unknown, { anchor, comment }: { anchor: string; comment: string }, indent: number): string {
    const dash = `${' '.repeat(indent)}-${anchor}`;
    return needsBlock(value)
      ? dash + comment + this.#lineEnding + this.block(value, indent + 2)
      : `${dash} ${formatInline(value, false)}${comment}${this.#lineEnding}`;
  }

  block(value: object, indent: number): string {
    const lines = formatCollection(value, 'any').split('\n');
    return lines.map(line => ' '.repeat(indent) + line + this.#lineEnding).join('');
  }
}

/**
 * The lines of a text as a block literal, and the sign behind its `|`; undefined for a text that is clearer in quotes
 * or cannot be a literal.
 */
export function literalLines(
  value: unknown,
): { readonly chomping: string; readonly lines: readonly string[] } | undefined {
  if (typeof value !== 'string' || !/^[^\s]/.test(value) || UNPRINTABLE.test(value) || value.endsWith('\n\n'))
    return undefined;
  const isEnded = value.endsWith('\n');
  return { chomping: isEnded ? '' : '-', lines: (isEnded ? value.slice(0, -1) : value).split('\n') };
}

/** The value as text for the line of its key. A scalar keeps its kind of quotes where the new value allows them. */
export function formatInline(value: unknown, isInBrackets: boolean, before?: Scalar): string {
  if (typeof value === 'object' && value !== null) return formatCollection(value, 'flow');
  if ((before === undefined || before.type === 'PLAIN') && isPlainScalar(value)) return String(value);
  const scalar = new Scalar(value);
  if (typeof value === 'string') {
    const quotes = before?.type === 'QUOTE_SINGLE' || before?.type === 'QUOTE_DOUBLE' ? before.type : undefined;
    if (quotes !== undefined && !value.includes('\n') && !UNPRINTABLE.test(value)) scalar.type = quotes;
    else if (isInBrackets || needsQuotes(value) || value.includes('\n')) scalar.type = 'QUOTE_DOUBLE';
  }
  return escaped(stringify(scalar, STYLE).trimEnd());
}

function formatCollection(value: object, collectionStyle: 'flow' | 'any'): string {
  const document = new Document(value);
  visit(document, {
    Scalar(_key, scalar) {
      const { value: text } = scalar;
      if (typeof text !== 'string') return;
      const hasLines = collectionStyle === 'flow' && text.includes('\n');
      if (hasLines || needsQuotes(text)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escaped(document.toString({ collectionStyle, ...STYLE }).slice(0, -1));
}

/** Escapes characters that the library does not. Texts that hold them are in double quotes, where escapes are read. */
function escaped(text: string): string {
  return text.replaceAll(UNESCAPED, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whether parsers take the bare text for something else, refuse it, or leave out what it begins or ends with. */
function needsQuotes(text: string): boolean {
  return isAmbiguous(text) || UNPRINTABLE.test(text) || text.startsWith(':') || text.trim() !== text;
}

function isAmbiguous(text: string): boolean {
  return AMBIGUOUS.some(pattern => pattern.test(text));
}

/** Spares the values that are the same in YAML as in text the cost of a document of their own. */
function isPlainScalar(value: unknown): boolean {
  if (typeof value === 'string') return WORD.test(value) && !isAmbiguous(value);
  return typeof value === 'boolean' || Number.isSafeInteger(value);
}

/** Whether the value is a collection that needs lines of its own. */
export function needsBlock(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
