// A finding is one thing that the owner may look into, found by rules in the evidence of a diagnosis.
import type { Recommendation } from '../contract.ts';

export interface Finding {
  /** Findings with the same id become one recommendation. */
  readonly id: string;
  readonly title: string;
  readonly risk?: Recommendation['risk'];
  readonly action?: Recommendation['action'];
  /** What was measured or read. */
  readonly facts: string;
  /** What the owner may do, in one sentence. */
  readonly advice: string;
  /** How much the finding explains, from 0 to 100. The highest comes first. */
  readonly weight: number;
}

const MAX_FACTS = 5;
const MAX_REASON_CHARS = 1_200;

/** One recommendation for each id, the highest weight first. */
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
