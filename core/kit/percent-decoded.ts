// Decodes percent-encoded text, and never throws.

/** The decoded text; a text whose percent signs do not encode characters is given as it is. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
