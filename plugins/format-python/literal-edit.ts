// Edits a Python literal: what did not change in its lists, tuples and dicts keeps its bytes, comments among them.
import { BracketMembers, type PlacedAdditions } from '#kit/bracket-members';
import { deepEqual } from '#kit/deep-equal';
import { matchItems } from '#kit/matched-items';
import { isObject } from '#kit/plain-object';
import { applySplices, type Splice } from '#kit/text-splice';
import { type Literal, type Member, readLiteral, writeLiteral } from './literal.ts';

/** The text of the literal for a value that differs. */
export function editLiteral(text: string, literal: Literal, wanted: unknown): string {
  const edited = afterSplices(text, literal, new LiteralEdit(text).plan(literal, wanted));
  const found = readLiteral(edited, 0);
  const isExact = found?.endOffset === edited.length && deepEqual(found.value, wanted);
  return isExact ? edited : writeLiteral(wanted, literal.kind, quoteAt(text, literal.startOffset));
}

class LiteralEdit {
  readonly #text: string;
  readonly #lineEnding: string;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnding = text.includes('\r\n') ? '\r\n' : '\n';
  }

  /** The ranges that give a literal its wanted value; it is replaced as a whole where nothing of it stays. */
  plan(literal: Literal, wanted: unknown): Splice[] {
    if (deepEqual(literal.value, wanted)) return [];
    const { kind, startOffset, endOffset } = literal;
    const whole = { startOffset, endOffset, text: writeLiteral(wanted, kind, quoteAt(this.#text, startOffset)) };
    if (kind === 'dict' && isObject(wanted)) return this.#planDict(literal, wanted) ?? [whole];
    if (kind !== 'scalar' && Array.isArray(wanted)) return this.#planItems(literal, wanted) ?? [whole];
    return [whole];
  }

  #planDict(dict: Literal, wanted: Readonly<Record<string, unknown>>): Splice[] | undefined {
    const { members } = dict;
    const kept = [...members.keys()].filter(index => Object.hasOwn(wanted, members[index]?.key ?? ''));
    // Python uses the last of several members with one key.
    const byKey = new Map(members.map(member => [member.key, member]));
    const added: string[] = [];
    const changes: Splice[] = [];
    const quote = quoteAt(this.#text, members[0]?.startOffset ?? 0);
    for (const [key, value] of Object.entries(wanted)) {
      const member = byKey.get(key);
      if (member !== undefined) changes.push(...this.plan(member.literal, value));
      else added.push(`${writeLiteral(key, 'scalar', quote)}: ${writeLiteral(value, 'scalar', quote)}`);
    }
    const planned = added.length === 0 ? [] : [{ at: kept.at(-1) ?? -1, items: added.map(text => ({ text })) }];
    return this.#restocked(dict, kept, planned, changes);
  }

  /** Items that stay the same ones are changed where they are; others move with their comments, come or go. */
  #planItems(list: Literal, wanted: readonly unknown[]): Splice[] | undefined {
    const { members } = list;
    const { sources, stays } = matchItems(list.value as readonly unknown[], wanted);
    const isStaying = new Set(stays);
    const changes: Splice[] = [];
    const planned: Planned[] = [];
    let at = -1;
    for (const [index, value] of wanted.entries()) {
      const source = sources[index];
      const member = members[source ?? -1];
      if (source !== undefined && member !== undefined && isStaying.has(source)) {
        changes.push(...this.plan(member.literal, value));
        at = source;
        continue;
      }
      if (planned.at(-1)?.at !== at) planned.push({ at, items: [] });
      const quote = quoteAt(this.#text, members[0]?.startOffset ?? 0);
      const text =
        member === undefined
          ? writeLiteral(value, 'scalar', quote)
          : afterSplices(this.#text, member.literal, this.plan(member.literal, value));
      planned.at(-1)?.items.push({ text, ...(source === undefined ? {} : { source }) });
    }
    return this.#restocked(list, stays, planned, changes);
  }

  /** undefined where the literal has to be replaced as a whole. */
  #restocked(
    literal: Literal,
    kept: readonly number[],
    planned: readonly Planned[],
    changes: readonly Splice[],
  ): Splice[] | undefined {
    const { members, startOffset, endOffset } = literal;
    const [first] = kept;
    if (first === undefined) return undefined;
    if (kept.length === members.length && planned.length === 0) return [...changes];
    const inner = { startOffset: startOffset + 1, endOffset: endOffset - 1 };
    const places = new BracketMembers(this.#text, inner, members.map(rangeOf), '#');
    if (places.hasMarks) return undefined;
    const additions = planned.map(({ at, items }): PlacedAdditions => {
      const neighbour = at >= 0 ? at : first;
      const isOnLine = places.beginsLine(neighbour) || items.some(({ source }) => places.needsLine(source));
      const lead = isOnLine ? this.#lineEnding + this.#indentAt(members[neighbour]?.startOffset ?? 0) : ' ';
      return { at, items: items.map(({ source, text }) => places.asAddition(source, text)), lead };
    });
    return [...changes, ...places.restocked(kept, additions)];
  }

  /** The indentation of the line that holds the offset. */
  #indentAt(offset: number): string {
    const start = this.#text.lastIndexOf('\n', offset - 1) + 1;
    return /^[ \t]*/.exec(this.#text.slice(start, offset))?.[0] ?? '';
  }
}

/** The items that are put behind the member with the index `at`, or before the first one where it is -1. */
interface Planned {
  readonly at: number;
  readonly items: PlannedItem[];
}

interface PlannedItem {
  readonly text: string;
  /** The index that it had in the list so far. */
  readonly source?: number;
}

function rangeOf({ startOffset, literal }: Member) {
  return { startOffset, endOffset: literal.endOffset };
}

function afterSplices(text: string, { startOffset, endOffset }: Literal, splices: readonly Splice[]): string {
  const own = splices.map(splice => ({
    startOffset: splice.startOffset - startOffset,
    endOffset: splice.endOffset - startOffset,
    text: splice.text,
  }));
  return applySplices(text.slice(startOffset, endOffset), own);
}

/** The quote with which a text at the offset begins; else the usual one. */
function quoteAt(text: string, offset: number): string {
  return /^[rRuU]?(["'])/.exec(text.slice(offset, offset + 2))?.[1] ?? "'";
}
