// The types of events that people can be told of, in the order in which clients list them.
import type { ContributionList } from '#core';
import type { ConditionSource, NotificationEvent } from './contract.ts';

/** What people send themselves. */
export const MANUAL = 'manual';

const DEFAULT_ORDER = 900;

/** Those that can happen at present. */
export function listedTypes(list: ContributionList<NotificationEvent>): string[] {
  const possible = [...list].filter(({ value }) => isPossible(value));
  const ordered = possible.sort((a, b) => orderOf(a.value) - orderOf(b.value));
  return [MANUAL, ...ordered.map(({ key }) => key)];
}

/** What its plugin cannot tell counts as possible: the fault was counted and told where it happened. */
export function isPossible(value: Pick<NotificationEvent | ConditionSource, 'isPossible'>): boolean {
  try {
    return value.isPossible?.() !== false;
  } catch {
    return true;
  }
}

function orderOf({ order = DEFAULT_ORDER }: NotificationEvent): number {
  return order;
}
