// The types of events of which messages are made, in the order in which clients list them.
import type { ContributionList } from '#core';
import type { ConditionSource, NotificationEvent } from './contract.ts';

/** The type of messages that users send themselves. */
export const MANUAL = 'manual';

const DEFAULT_ORDER = 900;

/** The types of events that can happen at present. */
export function listedTypes(list: ContributionList<NotificationEvent>): string[] {
  const possible = [...list].filter(({ value }) => isPossible(value));
  const ordered = possible.sort((a, b) => orderOf(a.value) - orderOf(b.value));
  return [MANUAL, ...ordered.map(({ key }) => key)];
}

/** Counts as possible when the plugin's function fails; the host has already counted and logged the failure. */
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
