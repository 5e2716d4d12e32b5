// Chooses the span of time that a diagnosis looks at, and the span that it is compared with.

import { isObject } from '#kit/plain-object';
import { utcTime } from '#kit/utc-time';
import type { Comparison, DiagnosisScope, EvidenceTarget, EvidenceWindow } from '../contract.ts';
import type { ChangeLedger, LedgerEntry } from '../ledger/change-ledger.ts';

const HOUR_MS = 3_600_000;
const MIN_BASELINE_MS = 900_000;
const MAX_WINDOW_MS = 720 * HOUR_MS;
const CANDIDATES = 500;

export interface WindowRequest {
  readonly hours: number;
  readonly comparison: Comparison;
  readonly scope: DiagnosisScope;
  readonly targets: readonly EvidenceTarget[];
  readonly nowMs: number;
}

/** The window, and as `boundary` the change at which it begins; null when it does not begin at a change. */
export async function evidenceWindow(
  ledger: Pick<ChangeLedger, 'list'>,
  { hours, comparison, scope, targets, nowMs }: WindowRequest,
): Promise<EvidenceWindow & { readonly boundary: LedgerEntry | null }> {
  const fromMs = nowMs - hours * HOUR_MS;
  const current = { fromMs, toMs: nowMs };
  if (comparison === 'none') return { current, baseline: null, comparison, boundary: null };
  const boundary = comparison === 'since_change' ? await boundaryOf(ledger, scope, targets, nowMs) : undefined;
  if (boundary !== undefined) {
    const changedMs = boundary.timestamp * 1_000;
    const lengthMs = Math.max(nowMs - changedMs, MIN_BASELINE_MS);
    return {
      current: { fromMs: changedMs, toMs: nowMs },
      baseline: { fromMs: changedMs - lengthMs, toMs: changedMs },
      comparison,
      boundary,
    };
  }
  const baseline = { fromMs: fromMs - hours * HOUR_MS, toMs: fromMs };
  return { current, baseline, comparison: 'previous_period', boundary: null };
}

/** The member `diagnostic_window` of a bundle. */
export function windowToWire({
  current,
  baseline,
  comparison,
  boundary,
}: EvidenceWindow & { readonly boundary: LedgerEntry | null }) {
  const span = ({ fromMs, toMs }: EvidenceWindow['current']) => ({
    start: utcTime(fromMs),
    end: utcTime(toMs),
  });
  return {
    current: span(current),
    baseline: baseline === null ? null : span(baseline),
    comparison,
    boundary_event: boundary,
  };
}

/** The newest change that concerns the targets. Changes of the assistant's own settings concern no service. */
async function boundaryOf(
  ledger: Pick<ChangeLedger, 'list'>,
  scope: DiagnosisScope,
  targets: readonly EvidenceTarget[],
  nowMs: number,
): Promise<LedgerEntry | undefined> {
  const [target] = scope === 'service' ? targets : [];
  const changes = await ledger.list({
    type: 'config_change',
    fromMs: nowMs - MAX_WINDOW_MS,
    beforeMs: nowMs,
    limit: CANDIDATES,
    ...(target === undefined ? {} : { processName: target.processName }),
  });
  return changes.find(change => !change.source.startsWith('ai_') && (target === undefined || touches(change, target)));
}

/** Whether a change concerns the process, and not only other parts of the configuration. */
function touches({ process_name: name, details }: LedgerEntry, { processName, path }: EvidenceTarget): boolean {
  if (name === processName) return true;
  const changes = isObject(details) && Array.isArray(details.changes) ? details.changes.filter(isObject) : [];
  const place = path.join('.');
  return changes.some(({ path: changed }) => changed === place || String(changed).startsWith(`${place}.`));
}
