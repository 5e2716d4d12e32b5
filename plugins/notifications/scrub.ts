// Takes everything that a destination's URL and headers hold out of a text, and whatever else looks like a secret.
import { redact } from '#kit/redact';
import type { DestinationUrl } from './contract.ts';

const MASK = '[redacted]';
const ANY_URL = /\b([a-z][a-z0-9+.-]{0,31}):\/\/[^\s"'<>]+/gi;
/** Shorter ones are words of a sentence as well; they are taken out where they stand alone. */
const SURE_LENGTH = 4;

/** Members of the query that every URL may have, and that are no secrets. */
const OPEN_KEYS = new Set(['verify', 'format', 'overflow', 'cto', 'rto']);

/** What is known of the URL; `text` alone where it cannot be read. */
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
 * The sentence in which a destination refuses the URL. Other URLs in it stay, because they show what one looks like,
 * and so does what its example has: that is no secret, also where somebody has left it in the URL.
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
  // Services tell the name of a room without its sign, and one half of what a colon joins.
  const parts = [...segments.map(segment => segment.replace(/^[#@!+]+/, '')), ...authority.split(':')];
  // As it was given, because percent signs can be written in several ways.
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
  // The longest first, so that no part of a long one is left beside its mask.
  return [...new Set(forms)].filter(secret => /[^:/]/.test(secret)).sort((a, b) => b.length - a.length);
}

/** As it may stand in addresses and headers that a service repeats. */
function encodings(secret: string): string[] {
  // Half of a pair of surrogates cannot be encoded.
  const bytes = Buffer.from(secret);
  const inAddress = encodeURIComponent(bytes.toString());
  const inForm = new URLSearchParams([['', bytes.toString()]]).toString().slice(1);
  // Without the signs that fill up its end, because not everybody writes them.
  const base64 = bytes.toString('base64').replaceAll('=', '');
  const lowerCase = [inAddress, inForm].map(text => text.replaceAll(/%\w\w/g, sign => sign.toLowerCase()));
  return [inAddress, inForm, ...lowerCase, base64, bytes.toString('base64url')];
}

function without(text: string, secret: string): string {
  const isWord = secret.length < SURE_LENGTH && /^\w+$/.test(secret);
  return isWord ? text.replace(/\w+/g, word => (word === secret ? MASK : word)) : text.replaceAll(secret, MASK);
}
