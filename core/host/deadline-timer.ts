// The timer of one deadline: it fires when the limit has passed in time in which the event loop got on.
import { lostTime } from './loop-clock.ts';

/** Where nothing else holds the process a short deadline still comes; a long one does not keep a process alive. */
const HOLDS_PROCESS_MS = 30_000;
const SHORTEST_MS = 1;

/** What it returns stops the timer. */
export function startDeadline(limitMs: number, onLate: () => void): () => void {
  let timer: NodeJS.Timeout;
  let lostMs = lostTime();
  const arm = (ms: number): void => {
    timer = setTimeout(check, ms);
    if (limitMs > HOLDS_PROCESS_MS) timer.unref();
  };
  const check = (): void => {
    const nowLostMs = lostTime();
    const owedMs = Math.min(nowLostMs - lostMs, limitMs);
    lostMs = nowLostMs;
    if (owedMs > SHORTEST_MS) arm(owedMs);
    else onLate();
  };
  arm(limitMs);
  return () => clearTimeout(timer);
}

/** `10 s`, `250 ms`, `15 min`. */
export function durationText(ms: number): string {
  if (ms >= 120_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`;
}
