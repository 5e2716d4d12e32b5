// Where the members of a mapping or a sequence on lines of its own stand in a YAML text, each with its own comments:
// the lines right above it, the end of its lines, and what is indented deeper below them. A comment on the first line
// of a text belongs to no member.
import type { Range } from './bracket-members.ts';
import type { Splice } from './text-splice.ts';

/** The header of a block scalar that keeps the blank lines behind it, such as `|+`. */
const KEEPS_BLANKS = /[|>](?:\d?\+|\+\d)[ \t]*(?:#[^\n]*)?\n/;

export class BlockMembers {
  readonly #text: string;
  readonly #members: readonly Range[];
  /** The column at which every member begins. */
  readonly column: number;

  /** `members` are the ranges without comments, with the dash of each item. A sequence has at least one. */
  constructor(text: string, members: readonly Range[]) {
    this.#text = text;
    this.#members = members;
    const first = members[0]?.startOffset ?? 0;
    this.column = first - this.#lineStart(first);
  }

  /** Whether the first member stands behind something else on its line, such as the dash of an item. */
  get beginsInline(): boolean {
    const first = this.#members[0]?.startOffset ?? 0;
    return this.#text.slice(this.#lineStart(first), first).trim() !== '';
  }

  /**
   * Removes all members but the kept ones, of which there is at least one, with their comments. `head` are the lines of
   * new members that take the place of the first one behind a dash.
   */
  removals(kept: readonly number[], lineEnding: string, head = ''): Splice[] {
    const [first = 0] = kept;
    const isKept = new Set(kept);
    const isShifted = this.beginsInline && (first > 0 || head !== '');
    const others: Splice[] = [];
    let isBelowBlanks = false;
    for (const [index, { startOffset, endOffset }] of this.#members.entries()) {
      const isNextKept = isKept.has(index + 1);
      if (isKept.has(index)) isBelowBlanks = !isNextKept && KEEPS_BLANKS.test(this.#text.slice(startOffset, endOffset));
      else if (!isShifted || index > first)
        others.push({ startOffset: this.start(index), endOffset: this.#goneEnd(index, isBelowBlanks), text: '' });
    }
    return isShifted ? [this.#behindDash(first, lineEnding, head), ...others] : others;
  }

  /** The end of a removed member, with the blank lines that a block scalar above would take in. */
  #goneEnd(index: number, isBelowBlanks: boolean): number {
    let end = this.end(index);
    if (!isBelowBlanks) return end;
    while (end < this.#text.length && this.#line(end).kind === 'blank') end = this.#lineEnd(end + 1);
    return end;
  }

  /**
   * What stands behind a dash begins at the column of the first member; comments begin a line there, to be above it.
   */
  #behindDash(first: number, lineEnding: string, head: string): Splice {
    const indent = ' '.repeat(this.column);
    const startOffset = this.#members[0]?.startOffset ?? 0;
    const endOffset = this.#lead(first);
    const text = head === '' ? '' : head.slice(this.column) + indent;
    if ((text === '' ? this.#text[endOffset] : text[0]) !== '#') return { startOffset, endOffset, text };
    const before = this.#text.slice(this.#lineStart(startOffset), startOffset);
    const dashEnd = startOffset - (before.length - before.trimEnd().length);
    return { startOffset: dashEnd, endOffset, text: lineEnding + indent + text };
  }

  /** The beginning of the first line of a member; the member itself where it stands behind a dash. */
  start(index: number): number {
    const lead = this.#lead(index);
    return index === 0 && this.beginsInline ? lead : this.#lineStart(lead);
  }

  /** The lines of a member, all of which begin at the column of the members or deeper. */
  lines(index: number): Range & { readonly indent: string } {
    const isBehindDash = index === 0 && this.beginsInline;
    const indent = isBehindDash ? ' '.repeat(this.column) : '';
    return { startOffset: this.start(index), endOffset: this.end(index), indent };
  }

  /** The beginning of the line behind a member. */
  end(index: number): number {
    const next = this.#members[index + 1]?.startOffset ?? this.#text.length;
    let end = this.#lineEnd(this.#members[index]?.endOffset ?? 0);
    for (let at = end; at < next; at = this.#lineEnd(at + 1)) {
      const { indent, kind } = this.#line(at);
      if (kind === 'other') break;
      if (kind === 'blank') continue;
      if (indent <= this.column) break;
      end = this.#lineEnd(at + 1);
    }
    return end;
  }

  /** The first own comment above a member, or the member. */
  #lead(index: number): number {
    let lead = this.#members[index]?.startOffset ?? 0;
    const least = index === 0 ? 1 : this.end(index - 1);
    if (index === 0 && this.beginsInline) return lead;
    for (let at = this.#lineStart(lead); at > least; ) {
      at = this.#lineStart(at - 1);
      const { indent, kind } = this.#line(at);
      if (at < least || kind !== 'comment' || indent !== this.column) break;
      lead = at + indent;
    }
    return lead;
  }

  #line(at: number): { readonly indent: number; readonly kind: 'blank' | 'comment' | 'other' } {
    const line = this.#text.slice(at, this.#lineEnd(at + 1));
    const text = line.trimStart();
    return {
      indent: line.length - text.length,
      kind: text === '' ? 'blank' : text.startsWith('#') ? 'comment' : 'other',
    };
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1;
  }

  /** After the line break that ends the line of the character before the offset. */
  #lineEnd(offset: number): number {
    if (this.#text[offset - 1] === '\n') return offset;
    const lineBreak = this.#text.indexOf('\n', offset);
    return lineBreak < 0 ? this.#text.length : lineBreak + 1;
  }
}
