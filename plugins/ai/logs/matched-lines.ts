// The log lines that the collector of a service asks for. The analysis of logs finds them; they are kept here for the
// collector, because they are no part of the bundle.
import type { Host } from '#core';
import type { EvidenceRequest, EvidenceTarget, EvidenceWindow, MatchedLines, NativeCollector } from '../contract.ts';

/**
 * Matched lines by process name, for each running diagnosis. The window identifies it, since all its sources get the
 * same object.
 */
const found = new WeakMap<EvidenceWindow, Map<string, MatchedLines>>();

export function collectorOf(host: Host, { configKey }: EvidenceTarget): NativeCollector | undefined {
  const collectors = [...host.contributions('ai.native-collector').values()];
  return collectors.find(candidate => candidate.configKey === configKey);
}

export function keepMatched({ window }: EvidenceRequest, { processName }: EvidenceTarget, lines: MatchedLines): void {
  found.set(window, (found.get(window) ?? new Map<string, MatchedLines>()).set(processName, lines));
}

/** undefined when the log of the process was not analysed. */
export function matchedLines({ window }: EvidenceRequest, { processName }: EvidenceTarget): MatchedLines | undefined {
  return found.get(window)?.get(processName);
}
