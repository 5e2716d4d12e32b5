// Masks secrets that are hidden by escapes, encodings, colours or look-alike characters, which any reader can decode.

const MAX_LAYERS = 3;
/** A text without one of these characters has nothing to decode. */
const VEIL = /[\\%&^\0\x1b\x80-\uffff]/;
const SIGNS: readonly (readonly [pattern: RegExp, plain: string | ((...match: string[]) => string)])[] = [
  // Colour codes, as raw bytes and as escapes.
  [/(?:\x1b|\^\[|\\(?:u001b|x1b|033|e))\[[0-9;]{0,32}[A-Za-z]/gi, ''],
  [/\\{1,32}(["'])/g, '$1'],
  [/\\{1,32}u([0-9a-f]{4})/gi, (_whole, code = '') => String.fromCharCode(Number.parseInt(code, 16))],
  [/\\{1,32}x([0-9a-f]{2})/gi, (_whole, code = '') => String.fromCharCode(Number.parseInt(code, 16))],
  [/%([2-7][0-9a-f])/gi, (_whole, code = '') => String.fromCharCode(Number.parseInt(code, 16))],
  [/&#(\d{2,3});/g, (_whole, code = '') => String.fromCharCode(Number(code))],
  [/&#x([0-9a-f]{2,4});/gi, (_whole, code = '') => String.fromCharCode(Number.parseInt(code, 16))],
  [/&(?:quot|apos);/g, '"'],
  [/&amp;/g, '&'],
  // Invisible characters.
  [/[\0\u00ad\u200b-\u200f\u2060\ufeff]/g, ''],
];
const BREAK = /\\\r?\n[ \t]{0,40}/g;
const ENCODED = /[A-Za-z0-9+/_-]{12,8192}={0,2}/g;
/** A user name and a password. */
const CREDENTIALS = /^[\w.@+-]{1,64}:[\x21-\x7e]{3,256}$/;
const HEX = /^(?:[0-9a-f]{2})+$/i;
const PRINTABLE = /^[\t\r\n\x20-\x7e]+$/;

/** Joins lines that continue with a backslash and hold a secret only when joined, and masks it. */
export function withoutBreaks(text: string, clean: (plain: string) => string): string {
  if (!text.includes('\\\n') && !text.includes('\\\r\n')) return text;
  return cleanLines(text, line => line.replaceAll(BREAK, ''), clean);
}

/**
 * Replaces each line by its decoded form with secrets masked, if `clean` finds one there. Other lines stay byte for
 * byte.
 */
export function withoutVeils(text: string, clean: (plain: string) => string): string {
  const open = text.replaceAll(ENCODED, word => (hidesSecret(word, clean, MAX_LAYERS) ? '[REDACTED]' : word));
  if (!VEIL.test(open)) return open;
  return cleanLines(open, plainOf, clean);
}

/** Replaces each line, with the lines that continue it, by its plain form with secrets masked if that holds any. */
function cleanLines(text: string, toPlain: (line: string) => string, clean: (plain: string) => string): string {
  const lines: string[] = [];
  for (let from = 0; from <= text.length; ) {
    const end = endOfLine(text, from);
    const line = text.slice(from, end);
    const plain = toPlain(line);
    const cleaned = plain === line ? plain : clean(plain);
    lines.push(cleaned === plain ? line : cleaned);
    from = end + 1;
  }
  return lines.join('\n');
}

/** The first line end that no backslash escapes. */
function endOfLine(text: string, from: number): number {
  let end = text.indexOf('\n', from);
  while (end !== -1 && backslashesBefore(text, text[end - 1] === '\r' ? end - 1 : end) % 2 === 1)
    end = text.indexOf('\n', end + 1);
  return end === -1 ? text.length : end;
}

function backslashesBefore(text: string, end: number): number {
  let first = end;
  while (text[first - 1] === '\\') first -= 1;
  return end - first;
}

function plainOf(line: string): string {
  let plain = line;
  for (let layer = 0; layer < MAX_LAYERS && VEIL.test(plain); layer += 1) {
    const before = plain;
    for (const [pattern, open] of SIGNS) plain = plain.replace(pattern, open as string);
    plain = plain.normalize('NFKC');
    if (plain === before) break;
  }
  return plain;
}

/** Whether the word is a text in base64 or hexadecimal that holds a secret. */
function hidesSecret(word: string, clean: (plain: string) => string, layers: number): boolean {
  const isHex = HEX.test(word);
  if (!isHex && !(/[A-Z]/.test(word) && /[a-z]/.test(word))) return false;
  const plain = Buffer.from(word, isHex ? 'hex' : 'base64').toString('latin1');
  if (!PRINTABLE.test(plain)) return false;
  if (CREDENTIALS.test(plain) || clean(plain) !== plain) return true;
  return layers > 1 && [...plain.matchAll(ENCODED)].some(([inner]) => hidesSecret(inner, clean, layers - 1));
}
