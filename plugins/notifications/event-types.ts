// The types of events that people can be told of, in the order in which clients list them.
import type { ContributionList } from '#core';
import type { NotificationEvent } from './contract.ts';

/** What people send themselves. */
export const MANUAL = 'manual';

/** The beginnings of types; those of other plugins stand at the place of the empty one. */
const ORDER = [
  MANUAL,
  'dumb.startup.',
  'service.preinstall.',
  'service.start.',
  'service.unhealthy',
  'service.stopped.',
  'service.auto_restart.',
  'update.',
  'symlink.',
  '',
  'resource.',
  'database.',
  'recovery',
];

/** Those that can happen at present. */
export function listedTypes(list: ContributionList<NotificationEvent>): string[] {
  const possible = [...list].filter(({ value }) => isPossible(value)).map(({ key }) => key);
  return [MANUAL, ...possible].sort((a, b) => placeOf(a) - placeOf(b));
}

/** One whose plugin cannot tell is listed: it was counted and told where it happened. */
function isPossible(event: NotificationEvent): boolean {
  try {
    return event.isPossible?.() !== false;
  } catch {
    return true;
  }
}

function placeOf(type: string): number {
  const place = ORDER.findIndex(beginning => beginning !== '' && type.startsWith(beginning));
  return place < 0 ? ORDER.indexOf('') : place;
}
