// Reads the URLs of providers: which may be saved, and where requests go. Nothing here uses the network.
import { Problem } from '#core';
import { namesHost } from '#kit/url-host';
import type { ProviderDescriptor } from '../contract.ts';
import { DEFAULT_RECORD } from './provider-record.ts';

const MAX_URL_LENGTH = 2_048;
/** Ends of the URLs of requests, which users paste in place of the base. */
const ENDPOINT = /\/(?:chat\/completions|responses|models)$/;

/** Throws a Problem 400 that names the rule that the text breaks, but never repeats the text. */
export function readTargetUrl(text: string): URL {
  if (text.length > MAX_URL_LENGTH) throw refusal(`is longer than ${MAX_URL_LENGTH} characters`);
  if (/[\p{Cc}\\]/u.test(text)) throw refusal('has control characters or backslashes');
  if (!/^https?:\/\//i.test(text)) {
    const isHost = !text.includes('://') && !/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text);
    throw refusal(isHost ? 'has no scheme; begin it with http:// or https://' : 'must begin with http:// or https://');
  }
  if (!namesHost(text) || !URL.canParse(text))
    throw refusal('cannot be read; give scheme, host and port, such as http://host:11434');
  const url = new URL(text);
  if (url.port === '0') throw refusal('has no port from 1 to 65535');
  if (url.username !== '' || url.password !== '') throw refusal('has a user or password; enter the key as api_key');
  if (url.search !== '' || text.includes('?'))
    throw refusal('has a query; only scheme, host, port and path belong here');
  if (text.includes('#')) throw refusal('has a fragment; only scheme, host, port and path belong here');
  return url;
}

/** The URL that clients are shown for a stored one. */
export function shownUrl({ endpoint }: ProviderDescriptor, stored: string): string {
  return endpoint.mode === 'managed' ? endpoint.url : stored;
}

/**
 * The base below which requests go, without a slash at its end. Throws a Problem 400 for a URL that is missing or
 * refused.
 */
export function requestBase({ label, endpoint }: ProviderDescriptor, stored: string): string {
  if (endpoint.mode === 'managed') return withoutSlash(endpoint.apiBase ?? endpoint.url);
  const text = stored.trim() || (endpoint.defaultUrl ?? '');
  // Clients may leave the default address of Ollama in the field when another provider is chosen.
  const isLeftOver = endpoint.defaultUrl === undefined && text === DEFAULT_RECORD.base_url;
  if (text === '' || isLeftOver) throw new Problem(400, `base_url is not configured: enter the address of ${label}`);
  const given = readTargetUrl(text);
  given.pathname = withoutSlash(given.pathname).replace(ENDPOINT, '');
  const url = endpoint.normalize?.(new URL(given)) ?? given;
  if (url.origin !== given.origin)
    throw new Error(`the base URL of ${label} has another origin than the configured one`);
  return withoutSlash(url.href);
}

/** Scheme, host and port; undefined when requests are not possible. */
export function originOf(descriptor: ProviderDescriptor, stored: string): string | undefined {
  try {
    return new URL(requestBase(descriptor, stored)).origin;
  } catch {
    return undefined;
  }
}

function withoutSlash(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

function refusal(reason: string): Problem {
  return new Problem(400, `base_url ${reason}`);
}
