// Cuts texts without leaving half of a character at their end.

const ELLIPSIS = '...';
/** Half of a pair that stands alone, which no encoding can hold. */
const HALF_CHARACTER = /\p{Surrogate}/gu;

/** At most `length` characters of JavaScript's strings; a longer text ends in `...`. */
export function shortened(text: string, length: number): string {
  return text.length > length ? beginning(text, Math.max(length - ELLIPSIS.length, 0)) + ELLIPSIS : text;
}

/** The first `length` characters, or one less where the last would be half of a pair. */
export function beginning(text: string, length: number): string {
  const isHalved = length < text.length && /[\ud800-\udbff]$/.test(text.slice(0, length));
  return text.slice(0, isHalved ? length - 1 : length);
}

/** Halves of characters are replaced by the sign for what cannot be read. */
export function wellFormed(text: string): string {
  return text.replaceAll(HALF_CHARACTER, '\ufffd');
}
