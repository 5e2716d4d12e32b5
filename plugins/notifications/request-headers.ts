// Which headers a user may add to the requests of a destination.
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/i;
/** One line of characters that a header can contain. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const OWN = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);
const MAX_HEADERS = 32;
const MAX_BYTES = 8 * 1_024;

/** What is wrong with the headers, as a sentence without their values; undefined when they are valid. */
export function headerFault(headers: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) return `There are at most ${MAX_HEADERS} headers.`;
  if (entries.some(([name]) => !NAME.test(name))) return 'The name of a header has letters, digits and hyphens only.';
  const own = entries.map(([name]) => name.toLowerCase()).find(name => OWN.has(name));
  if (own !== undefined) return `The header '${own}' belongs to the request itself and cannot be set.`;
  if (!entries.every(([, value]) => VALUE.test(value))) {
    return 'The value of a header is one line, without signs that headers cannot hold.';
  }
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return bytes > MAX_BYTES ? `The headers have at most ${MAX_BYTES} bytes together.` : undefined;
}
