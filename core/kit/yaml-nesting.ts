// Refuses texts of YAML that nest too deep or repeat too much, before anything parses them: in linear time, in constant
// space, without recursion.
import { CST, Lexer } from 'yaml';
import { Problem } from '../contract/problem.ts';
import { enter, leave, push, tooDeep } from './nesting.ts';
import { MAX_NESTING } from './nesting-limit.ts';

/** Aliases of one text. Resolving each looks at the whole text, and each multiplies what it stands for. */
const MAX_ALIASES = 256;

const PAIR = ':';
const PAIR_IN_BRACES = '}:';

/**
 * Throws a Problem 400 when a text of YAML nests deeper than `MAX_NESTING`, in its lines or between brackets, or when
 * it has more than 256 aliases. A value can still be deeper through its aliases.
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

/** A list or mapping without brackets, which the column of its items identifies. */
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
