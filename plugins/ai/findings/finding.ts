// One thing that an owner may look into, found by rules from what a diagnosis rests on.
import type { Recommendation } from '../contract.ts';

export interface Finding {
  /** Findings with the same id are one. */
  readonly id: string;
  readonly title: string;
  readonly risk?: Recommendation['risk'];
  readonly action?: Recommendation['action'];
  /** What was measured or read. */
  readonly facts: string;
  /** What an owner may do; one sentence. */
  readonly advice: string;
  /** How much it explains, from 0 to 100; the highest comes first. */
  readonly weight: number;
}

const MAX_FACTS = 5;
const MAX_REASON_CHARS = 1_200;

/** In their order, each id once. */
export function recommendationsOf(findings: readonly Finding[]): Recommendation[] {
  const byId = new Map<string, Finding[]>();
  for (const finding of findings) byId.set(finding.id, [...(byId.get(finding.id) ?? []), finding]);
  return [...byId.values()]
    .map(same => same.sort((a, b) => b.weight - a.weight))
    .sort(([a], [b]) => (b?.weight ?? 0) - (a?.weight ?? 0))
    .flatMap(same => {
      const [first] = same;
      if (first === undefined) return [];
      const { id, title, risk = 'low', action = 'review', advice } = first;
      const facts = [...new Set(same.map(finding => finding.facts))].slice(0, MAX_FACTS).join(' ');
      return [{ id, title, risk, action, reason: `${facts} ${advice}`.slice(0, MAX_REASON_CHARS) }];
    });
}
