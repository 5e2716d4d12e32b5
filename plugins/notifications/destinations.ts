// Finds the type of destinations for a URL among those that plugins contribute.
import { type ContributionList, Problem } from '#core';
import { errorText } from '#kit/error-text';
import type { DestinationUrl, NotificationDestination } from './contract.ts';
import { holdsTwoUrls, readUrl, schemeOf } from './destination-url.ts';
import { scrubRefusal } from './scrub.ts';
import type { Provider } from './settings.ts';

export interface FoundDestination {
  readonly destination: NotificationDestination;
  readonly url: DestinationUrl;
}

type List = ContributionList<NotificationDestination>;

const WEB = new Set(['http', 'https']);

/**
 * The destination for the URL, which it was able to parse. Throws a Problem 400 whose sentence contains no part of the
 * URL except the scheme; for an unknown scheme it lists the supported ones.
 */
export function findDestination(
  list: List,
  { provider, text, headers }: { provider: Provider; text: string; headers?: Readonly<Record<string, string>> },
): FoundDestination {
  if (holdsTwoUrls(text)) throw new Problem(400, 'Give one URL per destination.');
  const scheme = schemeOf(text);
  const isWeb = scheme !== undefined && WEB.has(scheme);
  if (provider === 'webhook' && !isWeb) throw new Problem(400, 'The URL of a webhook begins with http:// or https://.');
  if (scheme === undefined) throw new Problem(400, `The URL has no scheme. ${supported(list)}`);
  const destination = provider === 'apprise' && isWeb ? nativeDestination(list, text) : ofScheme(list, scheme);
  if (destination === undefined) throw new Problem(400, unknownDestination(list, provider, scheme));
  const url = readUrl(text, destination.schemes, provider === 'webhook' ? headers : {});
  requireReadable(destination, url);
  return { destination, url };
}

function unknownDestination(list: List, provider: Provider, scheme: string): string {
  if (provider === 'webhook') return 'No plugin for webhooks is present.';
  if (WEB.has(scheme))
    return 'This web address belongs to no known service. For any other, choose the generic webhook type.';
  return `Unsupported notification service '${scheme}'. ${supported(list)} For other services use a gateway URL (apprise://host/key) or the generic JSON webhook.`;
}

function requireReadable(destination: NotificationDestination, url: DestinationUrl): void {
  try {
    destination.parse(url);
  } catch (error) {
    const isTold = error instanceof Problem;
    const { example } = destination;
    const told = isTold ? scrubRefusal(url, errorText(error), example) : 'The URL of the destination cannot be read.';
    throw new Problem(400, told);
  }
}

function ofScheme(list: List, scheme: string): NotificationDestination | undefined {
  return [...list.values()].find(({ schemes }) => schemes.includes(scheme));
}

function nativeDestination(list: List, text: string): NotificationDestination | undefined {
  if (!URL.canParse(text.trim())) return undefined;
  const url = new URL(text.trim());
  return [...list.values()].find(({ native }) => native?.(url));
}

function supported(list: List): string {
  const schemes = [...list.values()].flatMap(destination => destination.schemes.filter(scheme => !WEB.has(scheme)));
  return schemes.length === 0 ? 'Supported: none.' : `Supported: ${schemes.sort().join(', ')}.`;
}
