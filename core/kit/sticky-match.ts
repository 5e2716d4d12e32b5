// Matches a sticky pattern at one place of a text, without a search of the rest.

/** The match that begins exactly at `index`, of a sticky pattern. */
export function at(pattern: RegExp, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index;
  return pattern.exec(text);
}

/** Where that match ends; negative when there is none. */
export function endAt(pattern: RegExp, text: string, index: number): number {
  return at(pattern, text, index) === null ? -1 : pattern.lastIndex;
}
