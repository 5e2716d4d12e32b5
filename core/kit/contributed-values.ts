// Merges the values of several contributions: one that fails gives none, and the others count.
import type { ContributionList } from '../contract/host.ts';

/** Later contributions win. The call of a contribution that fails has counted and logged the fault. */
export function contributedValues<Subject>(
  contributions: ContributionList<{ values(subject: Subject): Readonly<Record<string, unknown>> }>,
  subject: Subject,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { value } of contributions) {
    try {
      Object.assign(values, value.values(subject));
    } catch {
      // The other contributions still count.
    }
  }
  return values;
}
