// Matches of sticky patterns at one place of a text, so that the text is not looked through.

/** The match that begins exactly at `index`, of a sticky pattern. */
export function at(pattern: RegExp, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index;
  return pattern.exec(text);
}

/** Where that match ends; negative when there is none. */
export function endAt(pattern: RegExp, text: string, index: number): number {
  return at(pattern, text, index) === null ? -1 : pattern.lastIndex;
}
