// The words of a question that are looked for in logs.

const COMMON = new Set(['what', 'this', 'that', 'with', 'from', 'service', 'running']);
const MAX_WORDS = 40;

/** The words of the question in lower case, without repetition and common words. */
export function questionWords(question: string): string[] {
  const words = (question.match(/[A-Za-z][A-Za-z0-9_-]{3,}/g) ?? []).map(word => word.toLowerCase());
  return [...new Set(words)].filter(word => !COMMON.has(word)).slice(0, MAX_WORDS);
}
