// The severities of events, in rising order.
import type { Severity } from './contract.ts';

export const SEVERITIES = ['info', 'success', 'warning', 'critical'] as const satisfies readonly Severity[];

export function isAtLeast(severity: Severity, minimum: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(minimum);
}

/** The severity with this name; `info` for any other value. */
export function severityOf(value: unknown): Severity {
  return SEVERITIES.find(severity => severity === value) ?? 'info';
}
