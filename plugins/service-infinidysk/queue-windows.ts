// Figures about the queue from InfiniDysk's log: how many items ended, how long they took, and how long viewers waited
// for a first segment.
import { isObject } from '#kit/plain-object';
import type { DiagnosisScope, Evidence, MatchedLine, MatchedLines } from '../ai/contract.ts';
import { COMPLETED, PLAYED } from './queue-lines.ts';

const TEN_MINUTES_MS = 600_000;
const BINS_PER_HOUR = 6;
/** How many items ten minutes must have to show what the queue can do. */
const BUSY_ITEMS = 10;
const LONG_S = 300;

interface Rates {
  readonly median: number | null;
  readonly average: number | null;
  readonly peak: number | null;
  readonly ten_minute_bins: number;
}

interface QueueWindow {
  readonly terminal_items: number;
  readonly completed: number;
  readonly failed: number;
  readonly failure_percent: number | null;
  readonly duration_seconds: {
    readonly median: number | null;
    readonly p90: number | null;
    readonly maximum: number | null;
    readonly over_five_minutes: number;
  };
  readonly first_segment_ms: { readonly median: number | null; readonly p90: number | null };
  readonly busy_period_items_per_hour: Rates;
}

/** The member `queue` of the diagnostics. */
export function queueOf({ current, baseline }: MatchedLines): Record<string, unknown> {
  const now = windowOf(current);
  if (baseline === null) return { current: now };
  const before = windowOf(baseline);
  const { average } = now.busy_period_items_per_hour;
  const { average: base } = before.busy_period_items_per_hour;
  const isCompared = average !== null && base !== null;
  return {
    current: now,
    baseline: before,
    ...(isCompared ? { throughput_change_percent: rounded(((average - base) / base) * 100) } : {}),
  };
}

/** A recommendation if items took long in the window; `diagnostics` is `native_diagnostics` of the bundle. */
export function stallsOf(scope: DiagnosisScope, diagnostics: unknown, configKey: string): Evidence | undefined {
  if (!isObject(diagnostics)) return undefined;
  const all = scope === 'service' ? [diagnostics] : Object.values(diagnostics);
  const own = all.filter(isObject).find(({ collector }) => collector === configKey);
  const queue = isObject(own?.queue) ? (own.queue as { readonly current: QueueWindow }) : undefined;
  if (queue === undefined || queue.current.duration_seconds.over_five_minutes === 0) return undefined;
  const { terminal_items: items, duration_seconds: seconds } = queue.current;
  const recommendation = {
    id: 'investigate-nzbdav-processor-stalls',
    title: 'Items of the queue take long',
    risk: 'low',
    action: 'review',
    reason: `${seconds.over_five_minutes} of ${items} items of the queue took more than five minutes, the longest ${seconds.maximum} s. Look at the providers and connections that the queue uses at that time.`,
  } as const;
  return { members: {}, recommendations: [recommendation] };
}

function windowOf(lines: readonly MatchedLine[]): QueueWindow {
  // An item that is tried again ends more than once; the last end counts.
  const items = new Map<string, { readonly isCompleted: boolean; readonly seconds: number; readonly atMs: number }>();
  const firstMs: number[] = [];
  for (const { pattern, groups, atMs } of lines) {
    const [first = '', seconds] = groups;
    if (pattern === PLAYED) firstMs.push(Number(first));
    else items.set(first.toLowerCase(), { isCompleted: pattern === COMPLETED, seconds: Number(seconds), atMs });
  }
  const ended = [...items.values()];
  const failed = ended.filter(({ isCompleted }) => !isCompleted).length;
  const seconds = sorted(ended.map(item => item.seconds));
  const waits = sorted(firstMs);
  return {
    terminal_items: ended.length,
    completed: ended.length - failed,
    failed,
    failure_percent: ended.length === 0 ? null : rounded((failed / ended.length) * 100),
    duration_seconds: {
      median: quantile(seconds, 0.5),
      p90: quantile(seconds, 0.9),
      maximum: seconds.at(-1) ?? null,
      over_five_minutes: seconds.filter(value => value > LONG_S).length,
    },
    first_segment_ms: { median: quantile(waits, 0.5), p90: quantile(waits, 0.9) },
    busy_period_items_per_hour: ratesOf(ended.map(({ atMs }) => atMs)),
  };
}

function ratesOf(timesMs: readonly number[]): Rates {
  const bins = new Map<number, number>();
  for (const atMs of timesMs) {
    const bin = Math.floor(atMs / TEN_MINUTES_MS);
    bins.set(bin, (bins.get(bin) ?? 0) + 1);
  }
  const rates = sorted([...bins.values()].filter(count => count >= BUSY_ITEMS).map(count => count * BINS_PER_HOUR));
  const sum = rates.reduce((total, rate) => total + rate, 0);
  return {
    median: quantile(rates, 0.5),
    average: rates.length === 0 ? null : rounded(sum / rates.length),
    peak: rates.at(-1) ?? null,
    ten_minute_bins: rates.length,
  };
}

function sorted(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b);
}

/** The quantile, interpolated between two values; null when there are none. */
function quantile(values: readonly number[], share: number): number | null {
  const place = (values.length - 1) * share;
  const [low, high] = [values[Math.floor(place)], values[Math.ceil(place)]];
  return low === undefined || high === undefined ? null : rounded(low + (high - low) * (place - Math.floor(place)));
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
