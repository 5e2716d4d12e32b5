// Reads how many tokens a call took from the answers of providers. Only finite numbers are kept.

import { isObject } from '#kit/plain-object';
import type { Usage } from '../contract.ts';

/** The counts that are present, and their sum when there is no total. */
export function usageOf(raw: unknown, provider: string): Record<string, number | string> {
  const counts = Object.entries(isObject(raw) ? raw : {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
  );
  if (counts.length === 0) return {};
  const usage: Record<string, number | string> = Object.fromEntries(counts);
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  if (total === undefined && typeof prompt === 'number' && typeof completion === 'number')
    usage.total_tokens = prompt + completion;
  return { ...usage, provider };
}

/** The names that most services use for the three counts. */
export function usualUsage(raw: unknown): Usage {
  if (!isObject(raw)) return {};
  return {
    prompt_tokens: countOf(raw.prompt_tokens ?? raw.input_tokens),
    completion_tokens: countOf(raw.completion_tokens ?? raw.output_tokens),
    total_tokens: countOf(raw.total_tokens),
  };
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
