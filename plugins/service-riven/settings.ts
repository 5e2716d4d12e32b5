// Changes the settings of a running Riven over its API: Riven reads environment variables at its first start only, so
// later values of them are sent to its settings.
import type { FetchAnswer, FetchOptions } from '#core';
import { isObject } from '#kit/plain-object';
import { valueAt } from '#kit/value-at';

type Values = Readonly<Record<string, unknown>>;

const PREFIX = 'RIVEN_';
const LIMIT_MS = 15_000;
/** Words that Riven reads as true or false in variables. */
const TRUE = ['true', '1', 'yes', 'on'];
const FALSE = ['false', '0', 'no', 'off'];
/** Statuses that releases give which do not know a form of the API. */
const UNKNOWN_FORM = [404, 405, 422];

export interface RivenServer {
  /** Without a slash at its end. */
  readonly address: string;
  readonly apiKey: string;
}

/** Returns the dotted names of the settings that were changed. Throws an Error when Riven refuses. */
export async function pushSettings(
  server: RivenServer,
  variables: Readonly<Record<string, string>>,
  fetch: (url: string, options: FetchOptions) => Promise<FetchAnswer>,
): Promise<string[]> {
  const ask = (path: string, json?: unknown) =>
    fetch(`${server.address}/api/v1/settings/${path}`, {
      method: json === undefined ? 'GET' : 'POST',
      headers: { 'X-API-KEY': server.apiKey },
      timeoutMs: LIMIT_MS,
      ...(json === undefined ? {} : { json }),
    });
  const read = await ask('get/all');
  if (read.status !== 200) throw new Error(`Riven does not show its settings (${read.status})`);
  const settings = read.json();
  if (!isObject(settings)) throw new Error('Riven shows no settings');
  const changes = Object.entries(variables).flatMap(([name, value]) => {
    const place = name.startsWith(PREFIX) ? placeOf(settings, name.slice(PREFIX.length)) : undefined;
    if (place === undefined) return [];
    const present = valueAt(settings, place);
    const wanted = sameKind(present, value);
    return wanted === undefined || wanted === present ? [] : [{ place, value: wanted }];
  });
  if (changes.length === 0) return [];
  const whole = changes.reduce<Values>((tree, { place, value }) => withValue(tree, place, value), settings);
  let written = await ask('set/all', whole);
  if (UNKNOWN_FORM.includes(written.status)) {
    const list = changes.map(({ place, value }) => ({ key: place.join('.'), value }));
    written = await ask('set', list);
    if (written.status < 300) written = await ask('save', {});
  }
  if (written.status >= 300) throw new Error(`Riven does not take its settings (${written.status})`);
  return changes.map(({ place }) => place.join('.'));
}

/** The text of a variable as a value of the same type as `present`; undefined when it cannot be one. */
function sameKind(present: unknown, text: string): unknown {
  const word = text.trim().toLowerCase();
  if (typeof present === 'boolean') return TRUE.includes(word) ? true : FALSE.includes(word) ? false : undefined;
  if (typeof present === 'number') return word !== '' && Number.isFinite(Number(word)) ? Number(word) : undefined;
  return text;
}

/**
 * The place of the value that a variable such as `UPDATERS_LIBRARY_PATH` names. Underscores both separate names and
 * occur in them.
 */
function placeOf(tree: Values, name: string): string[] | undefined {
  for (const [key, value] of Object.entries(tree)) {
    const word = key.toUpperCase();
    if (word === name) return typeof value === 'object' && value !== null ? undefined : [key];
    if (!name.startsWith(`${word}_`) || !isObject(value)) continue;
    const rest = placeOf(value, name.slice(word.length + 1));
    if (rest !== undefined) return [key, ...rest];
  }
  return undefined;
}

function withValue(tree: Values, [key = '', ...rest]: readonly string[], value: unknown): Values {
  const inner = tree[key];
  return { ...tree, [key]: rest.length === 0 || !isObject(inner) ? value : withValue(inner, rest, value) };
}
