// Evidence from logs: the end of the present file, and what all kept files say about the window and its baseline.
import type { Host } from '#core';
import { turnWithTime } from '#kit/turns';
import type { LogSet } from '../../logs/contract.ts';
import type { Evidence, EvidenceRequest, EvidenceTarget } from '../contract.ts';
import { knownSecrets } from '../redaction/secret-text.ts';
import { secretsOf } from '../redaction/secret-value.ts';
import type { ScanResult } from './log-scan.ts';
import { readInThread } from './log-thread.ts';
import type { LogWork } from './log-worker.ts';
import { collectorOf, keepMatched } from './matched-lines.ts';
import { questionWords } from './question-words.ts';

/** Less than the deadline of the source, so that an analysis that takes too long gives what was read so far. */
const SCAN_MS = 35_000;
const EXCERPTS = { service: { current: 40, baseline: 20 }, stack: { current: 20, baseline: 20 } };

/** The end of the log of each target. */
export async function collectTails(host: Host, request: EvidenceRequest): Promise<Evidence | undefined> {
  // The last lines of a service are of use however old they are.
  return withLogs(host, request, 0, async sets => {
    const present = sets.map(({ set }) => set?.files.find(({ name }) => !name.endsWith('.gz')));
    const maxChars = request.maxLogChars;
    const secrets = configuredSecrets(host);
    const work = present.flatMap((file): LogWork[] =>
      file === undefined ? [] : [{ kind: 'tail', request: { file, maxChars, secrets } }],
    );
    const results = await readInThread(work, request.signal);
    const tails = sets.map(({ reason }, index) => {
      const file = present[index];
      if (file === undefined) return { content: '', note: reason ?? 'There is no log.' };
      const read = results.shift();
      if (read === undefined || 'error' in read) return { content: '', note: read?.error ?? '' };
      return { file: file.name, tail_chars: maxChars, content: read.result };
    });
    return { members: { logs: byScope(request, tails) } };
  });
}

/** What the lines of each target's log say. */
export async function collectAnalysis(host: Host, request: EvidenceRequest): Promise<Evidence | undefined> {
  const { window, scope, logTargets } = request;
  // A stack is not compared: that would take twice as many lines of twelve logs.
  const baseline = scope === 'service' ? window.baseline : null;
  const sinceMs = Math.min(window.current.fromMs, baseline?.fromMs ?? Number.POSITIVE_INFINITY);
  return withLogs(host, request, sinceMs, async sets => {
    const found = sets.flatMap(({ target, set }) => (set === null ? [] : [{ target, set }]));
    const shared = {
      current: window.current,
      baseline,
      keywords: questionWords(request.question),
      budgetBytes: Math.floor(request.maxLogScanBytes / Math.max(1, logTargets.length)),
      excerpts: EXCERPTS[scope],
      secrets: configuredSecrets(host),
      endsMs: performance.timeOrigin + performance.now() + SCAN_MS,
    };
    const work = found.map(
      ({ target, set: { files, discovered } }): LogWork => ({
        kind: 'scan',
        request: { ...shared, files, discovered, patterns: collectorOf(host, target)?.lines ?? [] },
      }),
    );
    const results = await readInThread(work, request.signal);
    const analyses = found.map(({ target }, index) => {
      const read = results[index];
      if (read === undefined || 'error' in read)
        return [target.processName, { available: false, reason: read?.error }] as const;
      const { analysis, lines } = read.result as ScanResult;
      keepMatched(request, target, lines);
      return [target.processName, analysis] as const;
    });
    const scanned = results.filter(read => 'result' in read).length;
    if (scope === 'stack')
      return {
        members: { log_analysis: Object.fromEntries(analyses) },
        coverage: { retained_log_services: scanned },
      };
    const [first] = analyses;
    return first && { members: { log_analysis: first[1] }, coverage: { retained_logs: scanned > 0 } };
  });
}

interface TargetLog {
  readonly target: EvidenceTarget;
  /** null when there is no log; then there may be a reason. */
  readonly set: LogSet | null;
  readonly reason?: string;
}

/** Opens the logs of the targets, and closes them when `use` is done. */
async function withLogs(
  host: Host,
  { logTargets, signal }: EvidenceRequest,
  sinceMs: number,
  use: (logs: readonly TargetLog[]) => Promise<Evidence | undefined>,
): Promise<Evidence | undefined> {
  const logs = host.find('log.files');
  if (logs === undefined) return undefined;
  const opened = await Promise.all(
    logTargets.map(async (target): Promise<TargetLog> => {
      await turnWithTime();
      try {
        return { target, set: await logs.openSet(target.processName, sinceMs) };
      } catch (error) {
        return { target, set: null, reason: (error as Error).message };
      }
    }),
  );
  try {
    // When the signal has fired, nothing waits for the result.
    return signal.aborted ? undefined : await use(opened);
  } finally {
    await Promise.all(opened.map(({ set }) => set?.close()));
  }
}

function byScope({ scope, logTargets }: EvidenceRequest, values: readonly unknown[]): unknown {
  if (scope === 'service') return values[0];
  return Object.fromEntries(logTargets.map(({ processName }, index) => [processName, values[index]]));
}

/** The secrets of the configuration, which a log may repeat. */
function configuredSecrets(host: Host): string[] {
  return knownSecrets(secretsOf(host.use('config.store').root()));
}
