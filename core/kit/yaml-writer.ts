// Writes values as YAML, so that every reader takes them for what they are.
import { Document, Scalar, stringify, visit } from 'yaml';

/**
 * Texts that YAML 1.1 parsers read as booleans, null or numbers, and those that merge mappings, or begin or end a
 * document; they are quoted when they are written.
 */
const AMBIGUOUS = /^(y|n|yes|no|on|off|true|false|null|~|[-+]?0\d+|[-+]?\d[\d_]*(:[0-5]?\d)+(\.\d*)?|<<|---|\.\.\.)$/i;

/** Texts that need no quotes, unless they are ambiguous. */
const WORD = /^[a-z_][\w./-]*$/i;

/** Every line that is written stands for itself: what is folded would need an indentation of its own. */
const STYLE = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER } as const;

/** Writes what has lines of its own. */
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

  /** The same, whose comment stands behind the dash. */
  commentedItem(value: unknown, comment: string, indent: number): string {
    const dash = `${' '.repeat(indent)}-`;
    return needsBlock(value)
      ? dash + comment + this.#lineEnding + this.block(value, indent + 2)
      : `${dash} ${formatInline(value, false)}${comment}${this.#lineEnding}`;
  }

  block(value: object, indent: number): string {
    const lines = formatCollection(value, 'any').split('\n');
    return lines.map(line => ' '.repeat(indent) + line + this.#lineEnding).join('');
  }
}

/** The value as text for the line of its key. A scalar keeps its kind of quotes where the new value allows them. */
export function formatInline(value: unknown, isInBrackets: boolean, before?: Scalar): string {
  if (typeof value === 'object' && value !== null) return formatCollection(value, 'flow');
  if ((before === undefined || before.type === 'PLAIN') && isPlainScalar(value)) return String(value);
  const scalar = new Scalar(value);
  if (typeof value === 'string') {
    const quotes = before?.type === 'QUOTE_SINGLE' || before?.type === 'QUOTE_DOUBLE' ? before.type : undefined;
    if (quotes !== undefined && !value.includes('\n')) scalar.type = quotes;
    else if (isInBrackets || needsQuotes(value) || value.includes('\n')) scalar.type = 'QUOTE_DOUBLE';
  }
  return stringify(scalar, STYLE).trimEnd();
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
  return document.toString({ collectionStyle, ...STYLE }).slice(0, -1);
}

/** Whether parsers take the bare text for something else, or leave out what it begins or ends with. */
function needsQuotes(text: string): boolean {
  return AMBIGUOUS.test(text) || text.trim() !== text;
}

/** Spares the values that are the same in YAML as in text the cost of a document of their own. */
function isPlainScalar(value: unknown): boolean {
  if (typeof value === 'string') return WORD.test(value) && !AMBIGUOUS.test(value);
  return typeof value === 'boolean' || Number.isSafeInteger(value);
}

/** Whether the value is a collection that needs lines of its own. */
export function needsBlock(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
