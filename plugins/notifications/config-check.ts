// Refuses destinations that could not be told anything, whichever way the configuration is saved.
import { type ContributionList, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { isObject } from '#kit/plain-object';
import type { NotificationDestination } from './contract.ts';
import { findDestination } from './destinations.ts';
import { type DestinationSettings, notificationsSection } from './settings.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/i;
const MAX_HEADERS = 32;
const MAX_HEADER_CHARACTERS = 8_192;
/** What every request needs to have as it is. */
const FORBIDDEN = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);

/**
 * `before` and `after` are the sections. What is stored already is never refused, so that an unsupported URL of an
 * earlier program blocks no save; it fails when it is used. Throws a Problem 400 without any part of a URL or header.
 */
export function checkDestinations(
  list: ContributionList<NotificationDestination>,
  before: unknown,
  after: unknown,
): void {
  const stored = new Map(destinationsOf(before).map(destination => [destination.id, destination]));
  const seen = new Set<string>();
  for (const destination of destinationsOf(after)) {
    const { id, name, provider, url, headers } = destination;
    if (seen.has(id)) throw refusal(`two destinations have the id '${id}'; give each its own`);
    seen.add(id);
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
  const entries = Object.entries(headers);
  const what = `a header of '${destination}'`;
  if (entries.length > MAX_HEADERS) throw refusal(`'${destination}' has more than ${MAX_HEADERS} headers`);
  for (const [name, value] of entries) {
    if (!TOKEN.test(name)) throw refusal(`${what} has a name that is none: letters, digits and hyphens`);
    if (FORBIDDEN.has(name.toLowerCase())) throw refusal(`${what} is set by every request itself: remove ${name}`);
    if (/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(value))
      throw refusal(`${what} has a value with line ends or characters that headers cannot hold`);
  }
  if (entries.flat().join('').length > MAX_HEADER_CHARACTERS)
    throw refusal(`the headers of '${destination}' have more than ${MAX_HEADER_CHARACTERS} characters`);
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
