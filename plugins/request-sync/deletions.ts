// Which missing requests may be taken for deleted after the whole list was read. Many at once, or all, look like the
// loss of a database, so they are held.
import type { Holds, Tracked } from './state.ts';
import { timestamp } from './state.ts';

const FEW = 20;
const SHARE = 0.25;
const AGREEING_SWEEPS = 3;
/** The time between two readings of the whole list. */
export const SWEEP_MS = 900_000;

export interface Look {
  /** Fingerprints of which the list shows no request. */
  readonly suspects: readonly string[];
  /** How many fingerprints are tracked. */
  readonly tracked: number;
  /** How many requests the list has. */
  readonly total: number;
  readonly areDeletesOn: boolean;
  readonly holds: Holds | null;
  readonly nowMs: number;
}

export interface Verdict {
  /** Fingerprints whose requests may be asked for one by one. */
  readonly released: readonly string[];
  readonly holds: Holds | null;
}

export function judgeSuspects({ suspects, tracked, total, areDeletesOn, holds, nowMs }: Look): Verdict {
  if (suspects.length === 0) return { released: [], holds: null };
  const now = timestamp(nowMs);
  if (total === 0) {
    const isSwitchedOff = holds?.kind === 'empty' && holds.isSwitchedOff === true;
    if (isSwitchedOff && areDeletesOn) return { released: suspects, holds: null };
    const hold: Holds = { kind: 'empty', fingerprints: [], sweeps: [now] };
    return { released: [], holds: areDeletesOn ? hold : { ...hold, isSwitchedOff: true } };
  }
  if (suspects.length <= FEW || suspects.length <= tracked * SHARE) return { released: suspects, holds: null };
  if (holds?.kind !== 'many') return { released: [], holds: { kind: 'many', fingerprints: suspects, sweeps: [now] } };
  const missing = new Set(suspects);
  const fingerprints = holds.fingerprints.filter(fingerprint => missing.has(fingerprint));
  // Times in the future were noted while the clock was wrong, and say nothing about the time between two sweeps.
  const noted = holds.sweeps.filter(sweep => sweep <= now);
  const last = Date.parse(noted.at(-1) ?? '');
  const sweeps = nowMs - last < SWEEP_MS ? noted : [...noted, now];
  if (sweeps.length >= AGREEING_SWEEPS) return { released: fingerprints, holds: null };
  return { released: [], holds: { kind: 'many', fingerprints, sweeps } };
}

/** The warning while deletions are held. */
export function holdsWarning(holds: Holds): string {
  return holds.kind === 'empty'
    ? 'the primary shows no requests at all, so nothing is deleted; if that is right, switch sync_deletes off and on'
    : `${holds.fingerprints.length} requests are missing on the primary at once, so nothing is deleted until three looks at least 15 minutes apart agree`;
}

/** The ids of the primary's requests. */
export function primaryIds({ primary_ids, primary_id }: Tracked): readonly number[] {
  return primary_ids === undefined || primary_ids.length === 0 ? [primary_id] : primary_ids;
}
