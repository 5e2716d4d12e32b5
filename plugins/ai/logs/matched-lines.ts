// The lines of a log that a collector of a service asks for: found with the analysis of logs, and handed over beside
// it, because they do not come into the bundle.
import type { Host } from '#core';
import type { EvidenceRequest, EvidenceTarget, EvidenceWindow, MatchedLines, NativeCollector } from '../contract.ts';

/** By process name, of each diagnosis that is on its way; all of its sources have the same window. */
const found = new WeakMap<EvidenceWindow, Map<string, MatchedLines>>();

export function collectorOf(host: Host, { configKey }: EvidenceTarget): NativeCollector | undefined {
  const collectors = [...host.contributions('ai.native-collector').values()];
  return collectors.find(candidate => candidate.configKey === configKey);
}

export function keepMatched({ window }: EvidenceRequest, { processName }: EvidenceTarget, lines: MatchedLines): void {
  found.set(window, (found.get(window) ?? new Map<string, MatchedLines>()).set(processName, lines));
}

/** undefined where the log of the process was not analysed. */
export function matchedLines({ window }: EvidenceRequest, { processName }: EvidenceTarget): MatchedLines | undefined {
  return found.get(window)?.get(processName);
}
