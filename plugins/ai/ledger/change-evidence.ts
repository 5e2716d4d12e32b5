// Evidence from the ledger: what was changed, started and stopped since the beginning of the baseline or of the window.
import type { Evidence, EvidenceRequest } from '../contract.ts';
import type { ChangeLedger } from './change-ledger.ts';

const LIMITS = { service: 100, stack: 200 };

export async function collectChanges(
  ledger: ChangeLedger,
  { scope, targets, window: { current, baseline } }: EvidenceRequest,
): Promise<Evidence | undefined> {
  const [target] = scope === 'service' ? targets : [];
  const entries = await ledger.list({
    fromMs: baseline?.fromMs ?? current.fromMs,
    limit: LIMITS[scope],
    ...(target === undefined ? {} : { processName: target.processName }),
  });
  return { members: { change_history: entries }, coverage: { change_history: entries.length > 0 } };
}
