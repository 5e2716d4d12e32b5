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
  const nesting = new YamlNesting();
  for (const token of new Lexer().lex(text)) nesting.take(token);
}

/** Follows the nesting of a text, one token of its lexer after the other. */
class YamlNesting {
  /** What closes the brackets that are open, and the pairs between them. */
  readonly #open: string[] = [];
  readonly #blocks: Block[] = [];
  #aliases = 0;
  /** Where the present token begins. */
  #column = 0;
  /**
   * Where the node or indicator begins to which a following `:` would belong. While brackets are open it is set, and
   * stays.
   */
  #keyColumn: number | undefined;

  take(token: string): void {
    const type = CST.tokenType(token);
    switch (type) {
      case 'flow-map-start':
      case 'flow-seq-start':
        this.#keyColumn ??= this.#column;
        enter(this.#open, token, this.#blocks.length);
        break;
      case 'flow-map-end':
      case 'flow-seq-end':
        endEntry(this.#open);
        leave(this.#open, token);
        break;
      case 'comma':
        endEntry(this.#open);
        break;
      case 'flow-error-end':
        this.#open.length = 0;
        break;
      case 'seq-item-ind':
      case 'explicit-key-ind':
      case 'map-value-ind':
        if (this.#open.length === 0) this.#beginItem(type === 'seq-item-ind');
        else if (type === 'map-value-ind') beginPair(this.#open, this.#blocks.length);
        break;
      case 'newline':
        if (this.#open.length === 0) this.#keyColumn = undefined;
        break;
      case 'alias':
        this.#aliases += 1;
        if (this.#aliases > MAX_ALIASES) throw new Problem(400, `The text has more than ${MAX_ALIASES} aliases`);
        this.#keyColumn ??= this.#column;
        break;
      case 'space':
      case 'comment':
      case 'doc-mode':
      case 'byte-order-mark':
        break;
      default:
        this.#keyColumn ??= this.#column;
    }
    this.#pass(token);
  }

  #beginItem(isList: boolean): void {
    begin(this.#blocks, { column: this.#keyColumn ?? this.#column, isList });
    this.#keyColumn = undefined;
  }

  #pass(token: string): void {
    // The lexer's own marks and a byte order mark take no column.
    if (token === CST.DOCUMENT || token === CST.SCALAR || token === CST.FLOW_END || token === CST.BOM) return;
    const lineEnd = token.lastIndexOf('\n');
    this.#column = lineEnd < 0 ? this.#column + token.length : token.length - lineEnd - 1;
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
