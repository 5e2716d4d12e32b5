// What contributions that each give some values give together: one that fails gives none, and the others count.
import type { ContributionList } from '../contract/host.ts';

/** Later contributions win. Whoever fails was counted and told where it was called. */
export function contributedValues<Subject>(
  contributions: ContributionList<{ values(subject: Subject): Readonly<Record<string, unknown>> }>,
  subject: Subject,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { value } of contributions) {
    try {
      Object.assign(values, value.values(subject));
    } catch {
      // The next one may give what is wanted.
    }
  }
  return values;
}
