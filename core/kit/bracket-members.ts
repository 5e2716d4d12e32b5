// Where the members of an object or a list in brackets stand in a text, each with its own comments: those on the lines
// right above it, and those behind it on its line. A comment with a blank line below it belongs to nobody.
import type { Splice } from './text-splice.ts';

/** Offsets of the first character and after the last one. */
export interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
}

/** What stands between two members, or between a bracket and a member. */
interface Gap {
  readonly comma: number | undefined;
  readonly lineBreak: number | undefined;
  /** After what stands on the line of the member before. */
  readonly tail: number;
  /** The first own comment of the member behind, or this member. */
  readonly lead: number;
}

export class BracketMembers {
  readonly #text: string;
  readonly #inner: Range;
  readonly #members: readonly Range[];
  readonly #gaps: readonly Gap[];

  /**
   * `inner` is what stands between the brackets, and `members` are without their comments and commas. `comments` is
   * what a comment of the text begins with.
   */
  constructor(text: string, inner: Range, members: readonly Range[], comments: '/' | '#') {
    this.#text = text;
    this.#inner = inner;
    this.#members = members;
    const starts = [...members.map(({ startOffset }) => startOffset), inner.endOffset];
    const ends = [inner.startOffset, ...members.map(({ endOffset }) => endOffset)];
    this.#gaps = starts.map((start, index) => readGap(text, ends[index] ?? start, start, comments));
  }

  /** Whether a member begins a line. */
  beginsLine(index: number): boolean {
    return this.#gap(index).lineBreak !== undefined;
  }

  /** Takes out all members but these, with their comments, and the commas that are too many then. */
  removals(kept: readonly number[]): Splice[] {
    const isKept = new Set(kept);
    const last = kept.at(-1) ?? -1;
    const gone = united([...this.#members.keys()].flatMap(index => (isKept.has(index) ? [] : [this.#extent(index)])));
    const commas: Range[] = [];
    let isNeeded = false;
    let next = 0;
    for (const [index, { comma }] of this.#gaps.entries()) {
      while (comma !== undefined && (gone[next]?.endOffset ?? Number.POSITIVE_INFINITY) <= comma) next += 1;
      if (comma !== undefined && comma < (gone[next]?.startOffset ?? Number.POSITIVE_INFINITY)) {
        if (isNeeded && (index <= last || this.#endsWithComma)) isNeeded = false;
        else commas.push({ startOffset: comma, endOffset: comma + 1 });
      }
      isNeeded ||= isKept.has(index);
    }
    return united([...gone, ...commas]).map(range => ({ ...range, text: '' }));
  }

  /**
   * Puts new members behind the one with this index, or before the first of `kept` where it is -1. `lead` stands before
   * each member: a line break and the indentation, or a blank where they are on one line.
   */
  insertion(index: number, kept: readonly number[], texts: readonly string[], lead: string): Splice[] {
    if (index < 0) return this.#atStart(kept[0] ?? 0, texts, lead);
    const { comma, lineBreak, tail } = this.#gap(index + 1);
    const isLast = index === kept.at(-1);
    const hasComma = comma !== undefined && (!isLast || this.#endsWithComma);
    const list = texts.join(`,${lead}`);
    const isOwnLine = lineBreak !== undefined && lead.includes('\n');
    if (hasComma) return [insert(isOwnLine ? Math.max(tail, comma + 1) : comma + 1, `${lead}${list},`)];
    const end = this.#members[index]?.endOffset ?? 0;
    if (isOwnLine) return [insert(end, ','), insert(tail, lead + list)];
    // Behind a comment that ends the line nothing would count. A comma before a member that is taken out goes with it.
    return [insert(lineBreak === undefined ? (comma ?? tail) : end, `,${lead}${list}`)];
  }

  #atStart(first: number, texts: readonly string[], lead: string): Splice[] {
    const { lead: offset, lineBreak } = this.#gap(first);
    if (lineBreak === undefined) return [insert(offset, texts.map(text => `${text},${lead}`).join(''))];
    const indent = lead.slice(lead.lastIndexOf('\n') + 1);
    const lineEnd = lead.slice(0, lead.length - indent.length);
    return [insert(this.#lineStart(offset), texts.map(text => `${indent}${text},${lineEnd}`).join(''))];
  }

  get #endsWithComma(): boolean {
    return this.#gaps.at(-1)?.comma !== undefined;
  }

  #gap(index: number): Gap {
    return this.#gaps[index] as Gap;
  }

  /** A member with its comments and the comma behind it; with its line breaks where it has lines of its own. */
  #extent(index: number): Range {
    const [before, after] = [this.#gap(index), this.#gap(index + 1)];
    if (before.lineBreak !== undefined && after.lineBreak !== undefined)
      return { startOffset: this.#lineStart(before.lead), endOffset: after.lineBreak + 1 };
    const behindComma = before.comma === undefined ? this.#inner.startOffset : before.comma + 1;
    const startOffset = before.lineBreak === undefined ? behindComma : before.lead;
    if (after.lineBreak !== undefined) return { startOffset, endOffset: after.tail };
    const isLast = index === this.#members.length - 1;
    if (index === 0 && !isLast) return { startOffset: before.lead, endOffset: after.lead };
    if (before.lineBreak !== undefined && !isLast) return { startOffset, endOffset: after.lead };
    return { startOffset, endOffset: after.comma === undefined ? after.tail : after.comma + 1 };
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1;
  }
}

function insert(offset: number, text: string): Splice {
  return { startOffset: offset, endOffset: offset, text };
}

/** Reads what can stand between members: white space, comments and a comma. */
function readGap(text: string, start: number, end: number, comments: '/' | '#'): Gap {
  let comma: number | undefined;
  let lineBreak: number | undefined;
  let tail = start;
  let lead = end;
  /** Line breaks since the last comment; two of them make a blank line. */
  let breaks = 0;
  for (let at = start, next = at; at < end; at = next) {
    const character = text[at] ?? '';
    next = at + 1;
    if (character === '\n') {
      breaks += 1;
      if (lineBreak === undefined || breaks > 1) lead = end;
      lineBreak ??= at;
    } else if (character === ',') {
      comma = at;
      lead = end;
    } else if (character === comments) {
      next = commentEnd(text, at);
      lead = Math.min(lead, at);
      breaks = 0;
    }
    if (lineBreak === undefined && !' \t\r'.includes(character)) tail = next;
  }
  return { comma, lineBreak, tail, lead };
}

function commentEnd(text: string, start: number): number {
  const isBlock = text.startsWith('/*', start);
  const end = text.indexOf(isBlock ? '*/' : '\n', start + 1);
  if (end < 0) return text.length;
  if (isBlock) return end + 2;
  return text[end - 1] === '\r' ? end - 1 : end;
}

/** The ranges in their order, those that touch or overlap as one. */
function united(ranges: readonly Range[]): Range[] {
  const result: { startOffset: number; endOffset: number }[] = [];
  for (const { startOffset, endOffset } of ranges.toSorted((one, other) => one.startOffset - other.startOffset)) {
    const last = result.at(-1);
    if (last !== undefined && startOffset <= last.endOffset) last.endOffset = Math.max(last.endOffset, endOffset);
    else result.push({ startOffset, endOffset });
  }
  return result;
}
