// The first seconds of a run, in which it must stay alive to count as started.
import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '#core';
import { turnWithTime } from '#kit/turns';
import type { ProcessSnapshot } from '../contract.ts';

const OBSERVATION_MS = 2_000;
/** Pause before the probe is first asked whether the process is up; each further pause is twice as long. */
const FIRST_ASK_MS = 20;
/** The longest of these pauses. */
const MAX_ASK_MS = 320;
const OBSERVED = Symbol('start observed');

export interface Observation {
  readonly host: Host;
  /** Resolves when the run has ended. */
  readonly ended: Promise<void>;
  readonly snapshot: () => ProcessSnapshot;
  /** Aborts when the start is cancelled; the observation is over then. */
  readonly signal: AbortSignal;
}

/** Lasts two seconds (scaled by the pace), or until the process's own probe says that it is healthy, or it ends. */
export async function observe({ host, ended, snapshot, signal }: Observation): Promise<void> {
  const waited = new AbortController();
  const over = AbortSignal.any([signal, waited.signal]);
  try {
    const observed = delay(host.paced(OBSERVATION_MS), undefined, { signal: over });
    await Promise.race([ended, observed, untilUp(host, snapshot, over)]);
  } finally {
    // The default reason would be an Error, whose stack costs time.
    waited.abort(OBSERVED);
  }
  // Observations of services that were started together end at the same time.
  await turnWithTime();
}

/** Resolves when the process's own probe says that it is healthy, or when the observation is over. */
async function untilUp(host: Host, snapshot: () => ProcessSnapshot, over: AbortSignal): Promise<void> {
  for (let pauseMs = FIRST_ASK_MS; !over.aborted; pauseMs = Math.min(2 * pauseMs, MAX_ASK_MS)) {
    await delay(pauseMs, undefined, { signal: over }).catch(() => undefined);
    const asked = over.aborted ? undefined : host.find('process.health')?.isUp(snapshot());
    if (await asked?.catch(() => false)) return;
  }
}
