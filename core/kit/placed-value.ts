// Encodes or quotes a value as its place in a text requires.
import { urlHost } from './client-host.ts';

const IN_CREDENTIALS = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*$/i;
const BEFORE_HOST = /^[^/?#]*@/;
const AT_HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?$/i;
const IPV6 = /^[\da-f]*(?::[\da-f.]*){2,}$/i;
const IN_PAIR = /(?:^|;)[\w ]+=$/;
const PAIR_END = /^(?:;|$)/;
/** Characters that end a value of a connection string, and white space at its ends, which readers trim. */
const NEEDS_QUOTES = /[;"']|^\s|\s$/;

/** `before` and `after` are what surrounds the value: the parts of an address, or of `Name=value;Name=value`. */
export function placedValue(value: string, before: string, after: string): string {
  if (IN_CREDENTIALS.test(before) && BEFORE_HOST.test(after)) return encodeURIComponent(value);
  if (IPV6.test(value) && (AT_HOST.test(before) || (before === '' && after.startsWith(':')))) return urlHost(value);
  const isOfPairs = `${before}${after}`.includes(';') && IN_PAIR.test(before) && PAIR_END.test(after);
  return isOfPairs && NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
