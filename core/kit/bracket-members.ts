// Where the members of an object or a list in brackets stand in a text, each with its own comments: those on the lines
// right above it, and those behind it on its line. A comment with a blank line below it belongs to no member.
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
  /** The end of the text on the line of the member before. */
  readonly tail: number;
  /** Where the first comment of the member behind begins, or the member itself. */
  readonly lead: number;
  /** Whether something else stands there, such as a tag of the member behind. */
  readonly hasMarks: boolean;
}

/** The text of a new member with the comments above it, and the comments that stand behind its comma. */
export interface Addition {
  readonly text: string;
  readonly behind: string;
}

export interface PlacedAdditions {
  /** The index of the member behind which they stand; -1 for before the first one. */
  readonly at: number;
  readonly items: readonly Addition[];
  /** Stands before each: a line break and the indentation, or a blank where they are on one line. */
  readonly lead: string;
}

/**
 * The comma behind a member that stays. `isNew`: it is inserted. `isNext`: it stands in the gap right behind the
 * member; otherwise it stands behind members that are removed.
 */
interface Comma {
  readonly isNew: boolean;
  readonly isNext: boolean;
}

export class BracketMembers {
  readonly #text: string;
  readonly #inner: Range;
  readonly #members: readonly Range[];
  readonly #gaps: readonly Gap[];
  readonly #comments: '/' | '#';

  /**
   * `inner` is what stands between the brackets, and `members` are without their comments and commas. `comments` is
   * what a comment of the text begins with.
   */
  constructor(text: string, inner: Range, members: readonly Range[], comments: '/' | '#') {
    this.#text = text;
    this.#inner = inner;
    this.#members = members;
    this.#comments = comments;
    const starts = [...members.map(({ startOffset }) => startOffset), inner.endOffset];
    const ends = [inner.startOffset, ...members.map(({ endOffset }) => endOffset)];
    this.#gaps = starts.map((start, index) => readGap(text, ends[index] ?? start, start, comments));
  }

  /** Whether more stands between members than white space, comments and commas. */
  get hasMarks(): boolean {
    return this.#gaps.some(({ hasMarks }) => hasMarks);
  }

  /** Whether a member begins a line. */
  beginsLine(index: number): boolean {
    return this.#gap(index).lineBreak !== undefined;
  }

  /** Whether a comment of this member would take with it what follows on its line. */
  needsLine(index: number | undefined): boolean {
    if (index === undefined) return false;
    const { above, behind } = this.#commentsOf(index);
    return above.includes('\n') || behind.includes(this.#comments === '/' ? '//' : '#');
  }

  /** What is written for a member elsewhere: its own text, with its comments where it is not new. */
  asAddition(index: number | undefined, text: string): Addition {
    if (index === undefined) return { text, behind: '' };
    const { above, behind } = this.#commentsOf(index);
    return { text: above + text, behind };
  }

  #commentsOf(index: number): { readonly above: string; readonly behind: string } {
    const [before, after] = [this.#gap(index), this.#gap(index + 1)];
    const { startOffset, endOffset } = this.#members[index] as Range;
    const isShared = after.lineBreak === undefined && index < this.#members.length - 1;
    const end = isShared ? Math.min(after.tail, after.lead) : after.tail;
    const comma = Math.min(after.comma ?? end, end);
    const behind = this.#text.slice(endOffset, comma) + this.#text.slice(Math.min(comma + 1, end), end);
    return { above: this.#text.slice(before.lead, startOffset), behind: behind.trimEnd() };
  }

  /** Removes all members but the kept ones, with their comments and the surplus commas, and inserts the additions. */
  restocked(kept: readonly number[], additions: readonly PlacedAdditions[]): Splice[] {
    const { ranges, commas } = this.#removals(kept);
    const removals = ranges.map(range => ({ ...range, text: '' }));
    const missing = [...commas].flatMap(([index, { isNew }]) => (isNew ? [insert(this.#endOf(index), ',')] : []));
    const first = kept[0] ?? 0;
    const added = additions.flatMap(({ at, items, lead }) =>
      at < 0 ? this.#atStart(first, items, lead) : this.#insertion(at, items, lead, commas.get(at)),
    );
    return [...removals, ...missing, ...added];
  }

  /** The ranges to remove, and the comma behind each member that stays; the last one may have none. */
  #removals(kept: readonly number[]): { readonly ranges: Range[]; readonly commas: ReadonlyMap<number, Comma> } {
    const isKept = new Set(kept);
    const last = kept.at(-1) ?? -1;
    const gone = united([...this.#members.keys()].flatMap(index => (isKept.has(index) ? [] : [this.#extent(index)])));
    const surplus: Range[] = [];
    const commas = new Map<number, Comma>();
    /** The latest member that stays, while it has no comma. */
    let open: number | undefined;
    for (const [index, comma] of this.#commasOutside(gone).entries()) {
      if (comma !== undefined) {
        if (open !== undefined && (index <= last || this.#endsWithComma)) {
          commas.set(open, { isNew: false, isNext: index === open + 1 });
          open = undefined;
        } else surplus.push({ startOffset: comma, endOffset: comma + 1 });
      }
      if (!isKept.has(index)) continue;
      // The commas behind the open member are removed with other members.
      if (open !== undefined) commas.set(open, { isNew: true, isNext: false });
      open = index;
    }
    return { ranges: united([...gone, ...surplus]), commas };
  }

  /** The comma of each gap, unless it lies in one of the ranges, which are in their order. */
  #commasOutside(ranges: readonly Range[]): (number | undefined)[] {
    let next = 0;
    return this.#gaps.map(({ comma }) => {
      if (comma === undefined) return undefined;
      while ((ranges[next]?.endOffset ?? Number.POSITIVE_INFINITY) <= comma) next += 1;
      return comma < (ranges[next]?.startOffset ?? Number.POSITIVE_INFINITY) ? comma : undefined;
    });
  }

  #insertion(at: number, items: readonly Addition[], lead: string, present: Comma | undefined): Splice[] {
    const { comma, lineBreak, tail } = this.#gap(at + 1);
    const end = this.#endOf(at);
    const isOwnLine = lineBreak !== undefined && lead.includes('\n');
    // A comma that begins a line belongs to the next member.
    const isNext = present?.isNext === true && comma !== undefined && comma < (lineBreak ?? Number.POSITIVE_INFINITY);
    const behind = present?.isNew === true ? end : isNext ? comma + 1 : undefined;
    const last = behind === undefined ? items.length - 1 : items.length;
    const list = items.map((item, index) => `${lead}${item.text}${index < last ? ',' : ''}${item.behind}`).join('');
    // What follows on the line must not become a part of a comment.
    const close = lineBreak === undefined && lead.includes('\n') ? lead : '';
    if (behind !== undefined) return [insert(isOwnLine ? Math.max(tail, behind) : behind, list + close)];
    if (isOwnLine) return [insert(end, ','), insert(tail, list)];
    // Behind a comment that ends the line, the text would belong to the comment. A comma before a removed member goes
    // with it.
    return [insert(lineBreak === undefined ? (comma ?? tail) : end, `,${list}${close}`)];
  }

  #atStart(first: number, items: readonly Addition[], lead: string): Splice[] {
    const { lead: offset, lineBreak } = this.#gap(first);
    const texts = items.map(({ text, behind }) => `${text},${behind}`);
    if (lineBreak === undefined) return [insert(offset, texts.map(text => text + lead).join(''))];
    const indent = lead.slice(lead.lastIndexOf('\n') + 1);
    const lineEnd = lead.slice(0, lead.length - indent.length);
    return [insert(this.#lineStart(offset), texts.map(text => indent + text + lineEnd).join(''))];
  }

  #endOf(index: number): number {
    return this.#members[index]?.endOffset ?? 0;
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
  let hasMarks = false;
  for (let at = start, next = at; at < end; at = next) {
    const character = text[at] ?? '';
    next = at + 1;
    switch (character) {
      case ' ':
      case '\t':
      case '\r':
        continue;
      case '\n':
        breaks += 1;
        if (lineBreak === undefined || breaks > 1) lead = end;
        lineBreak ??= at;
        break;
      case ',':
        comma = at;
        lead = end;
        break;
      case comments:
        next = commentEnd(text, at);
        lead = Math.min(lead, at);
        breaks = 0;
        break;
      default:
        hasMarks = true;
    }
    if (lineBreak === undefined) tail = next;
  }
  return { comma, lineBreak, tail, lead, hasMarks };
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
