// Describes how jobs fail, in words for users.
import type { Job, JobFailure } from '../contract/job.ts';
import { Problem } from '../contract/problem.ts';
import { errorText } from '../kit/error-text.ts';
import { redact } from '../kit/redact.ts';

/** Why the signal of a run aborted. */
export type StopReason = 'cancelled' | 'late' | 'interrupted';

export const REASONS: Readonly<Record<StopReason, string>> = {
  cancelled: 'it was cancelled',
  late: 'it took longer than its deadline',
  interrupted: 'the host or the plugin ended before it was done',
};

/** The final state of a job whose signal was aborted. */
export function outcomeOf(reason: StopReason): Pick<Job, 'state' | 'error' | 'endedAt'> {
  const state = reason === 'late' ? 'failed' : reason;
  return { state, error: { message: REASONS[reason], code: reason }, endedAt: Date.now() };
}

/** Describes what the work of a job threw. */
export function describeFailure(error: unknown): JobFailure {
  const message = redact(errorText(error));
  return { message, code: error instanceof Problem ? (error.code ?? 'failed') : 'failed' };
}

/** The error for a caller that awaits the result of a job that failed. */
export function failureOf({ state, error, kind, key }: Job): Problem {
  const reason = error?.message ?? REASONS.interrupted;
  const code = error?.code ?? 'interrupted';
  const what = `${kind} of ${key} ended: ${reason}`;
  return state === 'cancelled'
    ? new Problem(409, `${what}; start it again`, { code })
    : new Problem(503, what, { code });
}

export function unrecorded(kind: string, cause: unknown): Problem {
  return new Problem(503, `${kind} is not done, for it cannot be recorded on the disk; the log says why`, { cause });
}
