// What the lines of a service's log say about its databases, counted over time.

/** Signs of trouble, in the order in which answers list them. */
export const SIGNALS = ['locked', 'busy', 'timeout', 'io_error', 'deadlock'] as const;
export type Signal = (typeof SIGNALS)[number];
export type SignalCounts = Readonly<Record<Signal, number>>;

/** How far a log has been searched. `id` is its device and inode. */
export interface LogPosition {
  readonly id: string;
  readonly through: number;
}

/** What one search of a log found. */
export type LogLook =
  | {
      readonly path: string;
      readonly position: LogPosition;
      /** Whether this is another file than was searched before, or the file was truncated since. */
      readonly isNew: boolean;
      readonly counts: SignalCounts;
      /** Unix seconds. */
      readonly modifiedAt: number;
    }
  | { readonly path: string | null; readonly error: string };

export interface LogFindings {
  readonly counts: SignalCounts;
  /** Unix seconds at which each signal was last seen. */
  readonly lastSeen: Readonly<Partial<Record<Signal, number>>>;
  readonly path: string | null;
  /** null before the first search. */
  readonly position: LogPosition | null;
  readonly error: string | null;
}

const NONE: SignalCounts = { locked: 0, busy: 0, timeout: 0, io_error: 0, deadlock: 0 };

export const NO_FINDINGS: LogFindings = { counts: NONE, lastSeen: {}, path: null, position: null, error: null };

const SIGNS: Readonly<Record<Signal, (line: string) => boolean>> = {
  locked: line => line.includes('database is locked') || line.includes('database table is locked'),
  busy: line => line.includes('sqlite_busy') || line.includes('busy timeout'),
  timeout: line => line.includes('database') && (line.includes('timeout') || line.includes('timed out')),
  io_error: line =>
    line.includes('sqlite_ioerr') ||
    line.includes('disk i/o error') ||
    line.includes('database disk image is malformed'),
  deadlock: line => line.includes('deadlock detected'),
};

/** Each line counts once for each signal. */
export function countSignals(text: string): SignalCounts {
  const counts: Record<Signal, number> = { ...NONE };
  for (const line of text.toLowerCase().split('\n'))
    for (const signal of SIGNALS) if (SIGNS[signal](line)) counts[signal] += 1;
  return counts;
}

/** The findings after one more search, which took place at `nowS` (Unix seconds). */
export function withLook(before: LogFindings, look: LogLook, nowS: number): LogFindings {
  if ('error' in look) return { ...before, path: look.path, error: look.error };
  const { counts, isNew, path, position } = look;
  // Lines of a log that is searched for the first time may be old, but none is newer than the file's last change.
  const seenAt = isNew ? Math.min(look.modifiedAt, nowS) : nowS;
  const known = isNew ? NO_FINDINGS : before;
  const sum: Record<Signal, number> = { ...NONE };
  const lastSeen: Partial<Record<Signal, number>> = { ...known.lastSeen };
  for (const signal of SIGNALS) {
    sum[signal] = known.counts[signal] + counts[signal];
    if (counts[signal] > 0) lastSeen[signal] = seenAt;
  }
  return { counts: sum, lastSeen, path, position, error: null };
}
