// Splits a command into words as a shell would, but without a shell: quotes and backslashes count, nothing is expanded.

/** The parts of a command, of which the first that matches counts. */
const PARTS = [
  /(?<blank>\s+)/,
  // A backslash before a line break continues the line.
  /(?<continued>\\\n)/,
  /'(?<single>[^']*)'/,
  // Matches without its end too, because a search that begins again at each escaped quote takes long.
  /"(?<double>[^"\\]*(?:\\[\s\S][^"\\]*)*)(?<end>"?)/,
  /\\(?<escaped>[\s\S])/,
  /(?<plain>[^\s'"\\]+|\\)/,
  /(?<open>')/,
];
const PART = new RegExp(PARTS.map(({ source }) => source).join('|'), 'g');
/** A backslash before any other character within double quotes stands for itself. */
const ESCAPED_IN_QUOTES = /\\(["\\$`\n])/g;

/** Throws an Error when a quote is not closed. */
export function splitCommand(text: string): string[] {
  const words: string[] = [];
  let isInWord = false;
  for (const { groups = {} } of text.matchAll(PART)) {
    const { continued, single, double, end, escaped, plain, open } = groups;
    if (open !== undefined || end === '') throw new Error(`the command has a ${open ?? '"'} that is not closed`);
    if (continued !== undefined) continue;
    const part = single ?? escaped ?? plain ?? (double && unescaped(double));
    // White space is no part of a word, and ends it.
    if (part !== undefined) words.push(isInWord ? `${words.pop()}${part}` : part);
    isInWord = part !== undefined;
  }
  return words;
}

function unescaped(double: string): string {
  return double.replaceAll(ESCAPED_IN_QUOTES, (_, character: string) => (character === '\n' ? '' : character));
}
