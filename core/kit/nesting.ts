// Refuses texts that nest too deep or hold too many values, before anything parses them: in linear time, in constant
// space, without recursion.
import { CST, Lexer } from 'yaml';
import { Problem } from '../contract/problem.ts';
import { MAX_NESTING } from './nesting-limit.ts';

/** Values of one text, those that its aliases repeat counted each time. */
export const MAX_VALUES = 100_000;

/** Each value but the outermost has one comma behind it at most, and opens one object or list at most. */
const MAX_JSON_MARKS = 2 * MAX_VALUES + 1;

/** Aliases of one text. Resolving each looks at the whole text, and each multiplies what it stands for. */
const MAX_ALIASES = 256;

const PAIR = ':';
const PAIR_IN_BRACES = '}:';
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/**
 * Throws a Problem for a text of JSON, with or without comments: 400 when it nests deeper than `MAX_NESTING`, 413 when it
 * has more than `MAX_VALUES` values.
 */
export function refuseCostlyJson(text: string): void {
  const open: string[] = [];
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === '"') at = endOfString(text, at);
    else if (character === '/') at = endOfComment(text, at);
    else if (character === '}' || character === ']') leave(open, character);
    else if (character === ',' || character === '{' || character === '[') {
      marks += 1;
      if (marks > MAX_JSON_MARKS) throw tooMany();
      if (character !== ',') enter(open, character);
    }
  }
}

/**
 * Throws a Problem 400 when a text of YAML nests deeper than `MAX_NESTING`, in its lines or between brackets, or when it
 * has more than 256 aliases. A value can still be deeper through its aliases.
 */
export function refuseCostlyYaml(text: string): void {
  const open: string[] = [];
  const blocks: Block[] = [];
  let aliases = 0;
  /** Where the present token begins, and where the node or indicator does that a following `:` would belong to. */
  let column = 0;
  let keyColumn: number | undefined;
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token);
    switch (type) {
      case 'flow-map-start':
      case 'flow-seq-start':
        if (open.length === 0) keyColumn ??= column;
        enter(open, token, blocks.length);
        break;
      case 'flow-map-end':
      case 'flow-seq-end':
        endEntry(open);
        leave(open, token);
        break;
      case 'comma':
        endEntry(open);
        break;
      case 'flow-error-end':
        open.length = 0;
        break;
      case 'seq-item-ind':
      case 'explicit-key-ind':
      case 'map-value-ind':
        if (open.length > 0) {
          if (type === 'map-value-ind') beginPair(open, blocks.length);
          break;
        }
        begin(blocks, { column: keyColumn ?? column, isList: type === 'seq-item-ind' });
        keyColumn = undefined;
        break;
      case 'newline':
        if (open.length === 0) keyColumn = undefined;
        break;
      case 'alias':
        aliases += 1;
        if (aliases > MAX_ALIASES) throw new Problem(400, `The text has more than ${MAX_ALIASES} aliases`);
        keyColumn ??= column;
        break;
      case 'space':
      case 'comment':
      case 'doc-mode':
      case 'byte-order-mark':
        break;
      default:
        if (open.length === 0) keyColumn ??= column;
    }
    if (token === CST.DOCUMENT || token === CST.SCALAR || token === CST.FLOW_END || token === CST.BOM) continue;
    const lineEnd = token.lastIndexOf('\n');
    column = lineEnd < 0 ? column + token.length : token.length - lineEnd - 1;
  }
}

/** A list or mapping that is told by the column in which its items begin. */
interface Block {
  readonly column: number;
  readonly isList: boolean;
}

/** Ends the blocks that an item in this column cannot belong to; the items of a list may stand below their key. */
function begin(blocks: Block[], block: Block): void {
  for (let last = blocks.at(-1); last !== undefined; last = blocks.at(-1)) {
    const isInside = last.column < block.column || (last.column === block.column && !last.isList && block.isList);
    if (isInside) break;
    blocks.pop();
    if (last.column === block.column && last.isList === block.isList) break;
  }
  blocks.push(block);
  if (blocks.length > MAX_NESTING) throw tooDeep();
}

/** Between brackets, the pairs of `[a: b]` and `{a: b: c}` are mappings without brackets of their own. */
function beginPair(open: string[], outer: number): void {
  if (open.at(-1) === '}') open[open.length - 1] = PAIR_IN_BRACES;
  else push(open, PAIR, outer);
}

function endEntry(open: string[]): void {
  while (open.at(-1) === PAIR) open.pop();
  if (open.at(-1) === PAIR_IN_BRACES) open[open.length - 1] = '}';
}

function enter(open: string[], bracket: string, outer = 0): void {
  push(open, CLOSING[bracket] as string, outer);
}

function push(open: string[], closing: string, outer: number): void {
  open.push(closing);
  if (outer + open.length > MAX_NESTING) throw tooDeep();
}

/** A bracket that closes something else is skipped, as parsers that recover from errors do. */
function leave(open: string[], bracket: string): void {
  if (open.at(-1) === bracket) open.pop();
}

export function tooMany(): Problem {
  return new Problem(413, `The data has more than ${MAX_VALUES} values; shorten it`);
}

function tooDeep(): Problem {
  return new Problem(400, `The text is nested deeper than ${MAX_NESTING} levels`);
}

/** The offset of the closing quote. A string ends with its line at the latest. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22 || code === 0x0a || code === 0x0d) return at;
    if (code === 0x5c) at += 1;
  }
  return text.length;
}

function endOfComment(text: string, start: number): number {
  const isLine = text[start + 1] === '/';
  if (!isLine && text[start + 1] !== '*') return start;
  const end = isLine ? text.indexOf('\n', start) : text.indexOf('*/', start + 2);
  return end < 0 ? text.length : isLine ? end : end + 1;
}
