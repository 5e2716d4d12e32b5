// Asks every source of evidence, stage by stage. If a source fails or is late, only its own members are missing.
import type { ContributionList, Host } from '#core';
import { errorText } from '#kit/error-text';
import { turnWithTime } from '#kit/turns';
import type { Evidence, EvidenceRequest, EvidenceSource, Recommendation } from '../contract.ts';

const DEFAULT_DEADLINE_MS = 20_000;
/** Deadline of all sources together. */
const TOTAL_MS = 60_000;

export interface Gathered {
  readonly members: Readonly<Record<string, unknown>>;
  readonly coverage: Readonly<Record<string, boolean | number>>;
  readonly recommendations: readonly Recommendation[];
}

interface Answer {
  readonly evidence?: Evidence | undefined;
  /** Why there is no evidence. */
  readonly fault?: { readonly reason: string; readonly isLate: boolean };
}

/** Rejects only when the signal of the request fires. */
export async function gather(
  host: Host,
  sources: ContributionList<EvidenceSource>,
  request: Omit<EvidenceRequest, 'gathered'>,
): Promise<Gathered> {
  const { scope, switches, signal } = request;
  const asked = [...sources].filter(({ value }) => value.switches?.every(name => switches.has(name)) ?? true);
  const taking = [...sources].filter(({ value }) => value.coverage[scope] !== undefined);
  const coverage: Record<string, boolean | number> = Object.assign(
    {},
    ...taking.map(({ value }) => value.coverage[scope]),
  );
  const members: Record<string, unknown> = {};
  const recommendations: Recommendation[] = [];
  const endsMs = performance.now() + TOTAL_MS;
  const stages = new Set(asked.map(({ value }) => value.stage ?? 0));
  for (const stage of [...stages].sort((a, b) => a - b)) {
    const ofStage = asked.filter(({ value }) => (value.stage ?? 0) === stage && value.coverage[scope] !== undefined);
    const gathered = { ...members };
    const answers = await Promise.all(
      ofStage.map(async ({ key, owner, value }) => {
        await turnWithTime();
        const limitMs = Math.min(value.deadlineMs ?? DEFAULT_DEADLINE_MS, endsMs - performance.now());
        const answer = await askOne(value, { ...request, gathered }, limitMs);
        const { fault } = answer;
        if (fault !== undefined) host.log.debug(`the evidence '${key}' of ${owner} is missing: ${fault.reason}`);
        return { key, answer };
      }),
    );
    signal.throwIfAborted();
    for (const { key, answer } of answers) {
      const { evidence, fault } = answer;
      if (fault !== undefined)
        members[key] = { available: false, reason: fault.reason, ...(fault.isLate ? { timed_out: true } : {}) };
      Object.assign(members, evidence?.members);
      Object.assign(coverage, evidence?.coverage);
      recommendations.push(...(evidence?.recommendations ?? []));
    }
  }
  return { members, coverage, recommendations };
}

async function askOne(source: EvidenceSource, request: EvidenceRequest, limitMs: number): Promise<Answer> {
  const late = new AbortController();
  const signal = AbortSignal.any([request.signal, late.signal]);
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<Answer>(resolve => {
    timer = setTimeout(
      () => {
        late.abort();
        resolve({ fault: { reason: `There was no answer within ${Math.round(limitMs / 1_000)} s.`, isLate: true } });
      },
      Math.max(0, limitMs),
    );
  });
  try {
    const collected = source.collect({ ...request, signal }).then((evidence): Answer => ({ evidence }));
    return await Promise.race([collected, lateness]);
  } catch (error) {
    return { fault: { reason: errorText(error), isLate: false } };
  } finally {
    clearTimeout(timer);
  }
}
