// Removes from a text everything that a destination's URL and headers contain, and whatever else looks like a secret.
import { redact } from '#kit/redact';
import type { DestinationUrl } from './contract.ts';

const MASK = '[redacted]';
const ANY_URL = /\b([a-z][a-z0-9+.-]{0,31}):\/\/[^\s"'<>]+/gi;
/** A shorter secret may be part of ordinary words, so it is only removed where it is a word by itself. */
const SURE_LENGTH = 4;

/** Members of the query that every URL may have and that are not secret. */
const OPEN_KEYS = new Set(['verify', 'format', 'overflow', 'cto', 'rto']);

/** What is known of the URL; only `text` when the URL cannot be parsed. */
type Scrubbed = Pick<DestinationUrl, 'text'> & Partial<DestinationUrl>;

/** Gives the function that scrubs texts about this destination. */
export function scrubber(url: Scrubbed): (text: string) => string {
  let secrets: readonly string[] | undefined;
  return text => {
    secrets ??= secretsOf(url);
    return scrubUrls(secrets.reduce(without, text));
  };
}

/**
 * Scrubs the sentence in which a destination refuses the URL. Other URLs in the sentence stay, because they show the
 * form. So do texts of the destination's example: they are not secret, even when a user has left them in the URL.
 */
export function scrubRefusal(url: Scrubbed, sentence: string, example: string): string {
  const secrets = secretsOf(url).filter(secret => !example.includes(secret));
  return redact(secrets.reduce(without, sentence));
}

function scrubUrls(text: string): string {
  return redact(text).replaceAll(ANY_URL, `$1://${MASK}`);
}

function secretsOf({ text, user = '', password = '', authority = '', host = '', ...more }: Scrubbed): string[] {
  const { segments = [], query = new Map<string, string>(), headers = {} } = more;
  const values = [...query].flatMap(([key, value]) => (OPEN_KEYS.has(key) ? [] : [value]));
  // Services may repeat the name of a room without its sign, or only one half of a text with a colon.
  const parts = [...segments.map(segment => segment.replace(/^[#@!+]+/, '')), ...authority.split(':')];
  // Encoded parts as they were given, because the same text can be percent-encoded in several ways.
  const given = text.split(/[/?&=:@]+/).filter(part => part.includes('%'));
  const whole = [
    text,
    ...given,
    user,
    password,
    authority,
    host,
    ...segments,
    ...values,
    ...Object.entries(headers).flat(),
  ];
  const forms = [...whole, ...parts, `${user}:${password}`, segments.join('/')].flatMap(secret => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    ...encodings(secret),
  ]);
  // The longest first, so that no part of a long secret is left beside a mask.
  return [...new Set(forms)].filter(secret => /[^:/]/.test(secret)).sort((a, b) => b.length - a.length);
}

/** The encoded forms of a secret in addresses and headers that a service may repeat. */
function encodings(secret: string): string[] {
  // Through a buffer, because a lone surrogate cannot be encoded.
  const bytes = Buffer.from(secret);
  const inAddress = encodeURIComponent(bytes.toString());
  const inForm = new URLSearchParams([['', bytes.toString()]]).toString().slice(1);
  // Without the padding, which is not always written.
  const base64 = bytes.toString('base64').replaceAll('=', '');
  const lowerCase = [inAddress, inForm].map(text => text.replaceAll(/%\w\w/g, sign => sign.toLowerCase()));
  return [inAddress, inForm, ...lowerCase, base64, bytes.toString('base64url')];
}

function without(text: string, secret: string): string {
  const isWord = secret.length < SURE_LENGTH && /^\w+$/.test(secret);
  return isWord ? text.replace(/\w+/g, word => (word === secret ? MASK : word)) : text.replaceAll(secret, MASK);
}
