// Splits a command into words as a shell would, but without a shell: quotes and backslashes count, nothing is expanded.

/** Characters that a backslash escapes within double quotes; before any other one it stands for itself. */
const ESCAPED_IN_QUOTES = '"\\$`\n';

/** Throws an Error when a quote is not closed. */
export function splitCommand(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\' && escapes(quote, text[at + 1])) {
      at += 1;
      // A backslash before a line break continues the line.
      if (text[at] !== '\n') word = (word ?? '') + text[at];
    } else if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + character;
    }
  }
  if (quote !== undefined) throw new Error(`the command has a ${quote} that is not closed`);
  return word === undefined ? words : [...words, word];
}

/** Whether a backslash before this character escapes it, and is itself dropped. */
function escapes(quote: string | undefined, next: string | undefined): boolean {
  if (next === undefined || quote === "'") return false;
  return quote === undefined || ESCAPED_IN_QUOTES.includes(next);
}
