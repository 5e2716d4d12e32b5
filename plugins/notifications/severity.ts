// How much an event matters, in rising order.
import type { Severity } from './contract.ts';

export const SEVERITIES = ['info', 'success', 'warning', 'critical'] as const satisfies readonly Severity[];

export function isAtLeast(severity: Severity, minimum: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(minimum);
}

/** What a plugin calls otherwise counts as the least. */
export function severityOf(value: unknown): Severity {
  return SEVERITIES.find(severity => severity === value) ?? 'info';
}
