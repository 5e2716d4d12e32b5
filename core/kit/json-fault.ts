// Says what is wrong with a text that is no JSON, in words for a user who edits it by hand. The text itself is not
// quoted, because it may hold secrets.
import type { ParseError, ParseErrorCode } from 'jsonc-parser';

/** Indexed by the error codes of the parser. */
const WORDS: Readonly<Record<ParseErrorCode, string>> = {
  1: 'a value or a name was expected: names and texts stand in double quotes, and other values are numbers, true, false or null',
  2: 'a number was expected, such as 10 or 0.5',
  3: 'a name in double quotes was expected',
  4: 'a value was expected',
  5: 'a colon was expected between a name and its value',
  6: 'a comma was expected before this',
  7: 'the closing brace } of an object was expected',
  8: 'the closing bracket ] of a list was expected',
  9: 'nothing more was expected behind the closing brace',
  10: 'no comment can stand here',
  11: 'the end of a comment (*/) was expected',
  12: 'the closing double quote of a text was expected on its line',
  13: 'a digit was expected at the end of a number',
  14: 'four hexadecimal digits were expected behind \\u',
  15: 'a backslash in a text was expected to be doubled (\\\\), or to stand before one of " \\ / b f n r t u',
  16: 'no control character was expected in a text: a tab is written \\t',
};

export function jsonFaultText({ error }: ParseError): string {
  return WORDS[error as ParseErrorCode] ?? 'valid JSON was expected';
}
