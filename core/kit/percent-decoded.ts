// Text with its percent signs decoded, whoever encoded it.

/** A text in which they do not encode characters is given as it is. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
