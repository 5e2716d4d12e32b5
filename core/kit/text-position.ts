// Positions in a text as editors show them: lines and columns are counted from 1.

export interface TextPosition {
  readonly line: number;
  /** Counted in UTF-16 code units, as `offset` is. */
  readonly column: number;
}

/** The position of the character at `offset`. */
export function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
