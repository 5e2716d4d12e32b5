// Refuses destinations to which nothing could be sent, whichever way the configuration is saved.
import { type ContributionList, Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { errorText } from '#kit/error-text';
import { isObject } from '#kit/plain-object';
import type { NotificationDestination } from './contract.ts';
import { findDestination } from './destinations.ts';
import { doubledIds } from './doubled-ids.ts';
import { headerFault } from './request-headers.ts';
import { type DestinationSettings, MAX_DESTINATIONS, notificationsSection } from './settings.ts';

/**
 * `before` and `after` are the sections. URLs and headers that are stored already are never refused, so that an
 * unsupported URL of an earlier program does not block a save; it fails when it is used. Throws a Problem 400 that
 * contains no part of a URL or a header.
 */
export function checkDestinations(
  list: ContributionList<NotificationDestination>,
  before: unknown,
  after: unknown,
): void {
  const [former, next] = [destinationsOf(before), destinationsOf(after)];
  // What stands in the file already must not hinder changes elsewhere.
  if (deepEqual(former, next)) return;
  const [doubled] = doubledIds(next);
  if (next.length > Math.max(MAX_DESTINATIONS, former.length))
    throw refusal(`there may be ${MAX_DESTINATIONS}; remove one before you add another`);
  if (doubled !== undefined) throw refusal(`two destinations have the id '${doubled}'; give each its own`);
  const stored = new Map(former.map(destination => [destination.id, destination]));
  for (const destination of next) {
    const { id, name, provider, url, headers } = destination;
    const earlier = stored.get(id);
    const isSame = earlier?.url === url && earlier.provider === provider;
    if (url !== '' && !isSame) checkUrl(list, destination);
    if (earlier === undefined || JSON.stringify(earlier.headers) !== JSON.stringify(headers))
      checkHeaders(name, headers);
  }
}

function checkUrl(
  list: ContributionList<NotificationDestination>,
  { name, provider, url, headers }: DestinationSettings,
): void {
  try {
    findDestination(list, { provider, text: url, headers });
  } catch (error) {
    throw refusal(`the URL of '${name}': ${errorText(error)}`);
  }
}

function checkHeaders(destination: string, headers: Readonly<Record<string, string>>): void {
  const fault = headerFault(headers);
  if (fault !== undefined) throw refusal(`the headers of '${destination}': ${fault}`);
}

function destinationsOf(section: unknown): readonly DestinationSettings[] {
  const parsed = notificationsSection.shape.destinations.safeParse(
    isObject(section) ? section.destinations : undefined,
  );
  return parsed.success ? parsed.data : [];
}

function refusal(reason: string): Problem {
  return new Problem(400, `Invalid notification configuration at destinations: ${reason}`);
}
