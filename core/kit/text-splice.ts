// Replaces ranges of a text in one pass, so that many edits cost no more than one.

/** Replaces the range from `startOffset` up to, but not including, `endOffset`. */
export interface Splice {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly text: string;
}

/**
 * Applies splices whose ranges do not overlap. Insertions at one offset keep their order, and stand before its range.
 */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const parts: string[] = [];
  let done = 0;
  const sorted = splices.toSorted(
    (one, other) => one.startOffset - other.startOffset || one.endOffset - other.endOffset,
  );
  for (const splice of sorted) {
    if (splice.startOffset < done) throw new Error(`splices overlap at offset ${splice.startOffset}`);
    parts.push(text.slice(done, splice.startOffset), splice.text);
    done = splice.endOffset;
  }
  parts.push(text.slice(done));
  return parts.join('');
}
