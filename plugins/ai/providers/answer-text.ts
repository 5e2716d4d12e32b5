// Parses the JSON of a provider's answer, in a thread if it is large.
import { type FetchAnswer, Problem } from '#core';
import { refuseCostlyJson } from '#kit/nesting';
import { plainData } from '#kit/plain-data';
import { readText } from '#kit/text-thread';

/**
 * Rejects with a Problem 502 for an answer that is not JSON, or that is compressed without having been asked for, and
 * with a Problem 503 when it cannot be read at present.
 */
export async function parsedText({ text, headers }: Pick<FetchAnswer, 'text' | 'headers'>): Promise<unknown> {
  const encoding = String(headers['content-encoding'] ?? 'identity');
  if (encoding !== 'identity')
    throw new Problem(502, 'The AI provider compressed its answer though that was not asked for');
  try {
    return await readText(import.meta.url, parseProviderAnswer, text);
  } catch (cause) {
    if (cause instanceof Problem && cause.status === 503) throw cause;
    const isPage = text.trimStart().startsWith('<');
    const isTooMuch = cause instanceof Problem && cause.status === 413;
    const unreadable = isTooMuch ? 'more values than are read' : 'what cannot be read as JSON';
    const what = isPage ? 'a page instead of JSON' : unreadable;
    throw new Problem(502, `The AI provider answered with ${what}; check base_url`, { cause });
  }
}

/** @public The thread for large texts calls it by its name. */
export function parseProviderAnswer(text: string): unknown {
  refuseCostlyJson(text);
  return plainData(JSON.parse(text));
}
