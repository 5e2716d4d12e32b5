// Cuts texts without splitting a surrogate pair.

const ELLIPSIS = '...';
/** A lone surrogate, which no encoding can represent. */
const HALF_CHARACTER = /\p{Surrogate}/gu;

/** The text cut to `length` UTF-16 code units; a text that was cut ends in `...`. */
export function shortened(text: string, length: number): string {
  return text.length > length ? beginning(text, Math.max(length - ELLIPSIS.length, 0)) + ELLIPSIS : text;
}

/** The first `length` UTF-16 code units, or one less when the last would be half of a surrogate pair. */
export function beginning(text: string, length: number): string {
  const isHalved = length < text.length && /[\ud800-\udbff]$/.test(text.slice(0, length));
  return text.slice(0, isHalved ? length - 1 : length);
}

/** Replaces lone surrogates by the replacement character. */
export function wellFormed(text: string): string {
  return text.replaceAll(HALF_CHARACTER, '\ufffd');
}
