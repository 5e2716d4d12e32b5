// Reads URLs in the answers of a server, such as those of the files in a feed. Whether a URL may be requested is
// checked by the code that requests it.
import { Problem } from '../contract/problem.ts';

const MAX_LENGTH = 4_096;
const MAX_SHOWN = 200;
const BLANK_OR_CONTROL = /[\p{Cc}\s]/u;
const UNPRINTABLE = /[^\x20-\x7e]+/g;

/**
 * The address that `text` stands for in an answer from `from`. Throws a Problem 502 when it is no http or https URL,
 * has white space or control characters, or names a user.
 */
export function toldUrl(text: string, from: string | URL): URL {
  const isWhole = text.length <= MAX_LENGTH && !BLANK_OR_CONTROL.test(text) && URL.canParse(text, String(from));
  const url = isWhole ? new URL(text, from) : undefined;
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol) && `${url.username}${url.password}` === '')
    return url;
  const shown = JSON.stringify(text.slice(0, MAX_SHOWN).replace(UNPRINTABLE, ' '));
  throw new Problem(
    502,
    `${new URL(from).host} leads to ${shown}, which is no plain http or https address; try again later`,
  );
}
