// Evidence from metrics: what processes used in the window and in the baseline, from one read of the history.
import type { Host } from '#core';
import { utcTime } from '#kit/utc-time';
import type { NumberSummary, ProcessUsageSummary, SpanUsage } from '../../metrics-history/contract.ts';
import type { Evidence, EvidenceRequest, TimeSpan } from '../contract.ts';

const MS_PER_S = 1_000;

/** The values that the member `changes` of a service compares. */
const COMPARED = {
  cpu_percent_average_percent: (usage: ProcessUsageSummary) => usage.cpuPercent?.average,
  rss_bytes_average_percent: (usage: ProcessUsageSummary) => usage.rssBytes?.average,
  disk_read_bytes_per_second_percent: (usage: ProcessUsageSummary) => usage.readBytesPerSecond,
  disk_write_bytes_per_second_percent: (usage: ProcessUsageSummary) => usage.writtenBytesPerSecond,
};

export async function collectUsage(host: Host, request: EvidenceRequest): Promise<Evidence | undefined> {
  const history = host.find('metrics.history');
  if (history === undefined)
    return { members: { runtime_metrics: { available: false, reason: 'No history of metrics is kept.' } } };
  const { current, baseline } = request.window;
  const names = request.targets.map(({ processName }) => processName);
  const spans = [current, ...(baseline === null ? [] : [baseline])].map(secondsOf);
  const [now, before] = await history.processUsage({ spans, names: request.scope === 'service' ? names : [] });
  return now && evidenceOf(request, now, before);
}

function evidenceOf({ scope, targets }: EvidenceRequest, now: SpanUsage, before: SpanUsage | undefined) {
  const services = targets.flatMap(({ processName }) => {
    const usage = usageOf(processName, now, before);
    return usage === undefined ? [] : [[processName, usage] as const];
  });
  const available = services.length > 0;
  const truncated = now.truncated || before?.truncated === true;
  const [only] = services;
  const members =
    scope === 'stack'
      ? { available, truncated, services: Object.fromEntries(services) }
      : only === undefined
        ? { available, reason: 'The history has no sample of this service in this window.' }
        : { available, truncated, ...only[1] };
  return { members: { runtime_metrics: members }, coverage: { metrics_history: available } };
}

/** undefined for a process without samples in the window. */
function usageOf(processName: string, now: SpanUsage, before: SpanUsage | undefined) {
  const current = ofProcess(now, processName);
  if (current === undefined) return undefined;
  const baseline = before && ofProcess(before, processName);
  return {
    current: usageToWire(current, now.samples),
    ...(baseline === undefined || before === undefined
      ? {}
      : { baseline: usageToWire(baseline, before.samples), changes: changesOf(current, baseline) }),
  };
}

function ofProcess({ processes }: SpanUsage, processName: string): ProcessUsageSummary | undefined {
  const folded = processName.toLowerCase();
  return processes.find(usage => usage.processName.toLowerCase() === folded);
}

function usageToWire(usage: ProcessUsageSummary, samplesRead: number) {
  return {
    sample_count: usage.samples,
    missing_sample_count: samplesRead - usage.samples,
    coverage_start: utcTime(usage.first * MS_PER_S),
    coverage_end: utcTime(usage.last * MS_PER_S),
    observed_pids: usage.pids,
    restart_indications: Math.max(0, usage.pids.length - 1),
    cpu_percent: statsOf(usage.cpuPercent),
    rss_bytes: statsOf(usage.rssBytes),
    disk_read_bytes_per_second: rounded(usage.readBytesPerSecond),
    disk_write_bytes_per_second: rounded(usage.writtenBytesPerSecond),
  };
}

function statsOf(summary: NumberSummary | null): Record<string, number | null> {
  if (summary === null) return { samples: 0 };
  return Object.fromEntries(Object.entries(summary).map(([name, value]) => [name, rounded(value)]));
}

/** Changes in percent; a change from 0 has no percentage and is left out. */
function changesOf(current: ProcessUsageSummary, baseline: ProcessUsageSummary): Record<string, number> {
  const changes: Record<string, number> = {};
  for (const [name, numberOf] of Object.entries(COMPARED)) {
    const [now, before] = [numberOf(current), numberOf(baseline)];
    if (typeof now === 'number' && typeof before === 'number' && before !== 0)
      changes[name] = rounded(((now - before) / before) * 100) ?? 0;
  }
  return changes;
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 100) / 100;
}

function secondsOf({ fromMs, toMs }: TimeSpan) {
  return { from: fromMs / MS_PER_S, before: toMs / MS_PER_S };
}
