// Finds values of the configuration that fit the schema but have no effect here, and says what is done instead.
import { access } from 'node:fs/promises';
import path from 'node:path';
import type { ConfigCandidate, ConfigObject, ConfigStore } from '../contract/config.ts';
import { originIn } from '../http/cors-policy.ts';
import { hostNameIn } from '../http/host-names.ts';
import { isAddressOrNetwork } from '../kit/address-list.ts';
import { errorText } from '../kit/error-text.ts';
import { isTimeZone } from '../kit/time-zone.ts';
import { valueAt } from '../kit/value-at.ts';
import { unknownLevels } from './log-levels.ts';

/** One sentence for each value. */
export async function unusedWords(store: ConfigStore): Promise<string[]> {
  const directories = (store.get('dumb.plugins.dirs') ?? []) as readonly string[];
  const variables = store.overridingVariables();
  const missing = await Promise.all(directories.map(missingDirectory));
  return [
    ...unknownLevels(store.blocks(), variables),
    ...unknownZone(store),
    ...relativeRoot(store.root()),
    ...uselessNames(store.root()),
    ...missing.flat(),
  ];
}

function unknownZone(store: ConfigStore): string[] {
  const zone = store.get('tz');
  if (typeof zone !== 'string' || zone === '' || isTimeZone(zone)) return [];
  return [`tz: '${zone}' is no known time zone, so schedules follow local time; name one such as Europe/Berlin`];
}

/** The sentences about values that an update changes, as far as no file needs to be looked at. */
export function newUnusedWords({ before, after }: Pick<ConfigCandidate, 'before' | 'after'>): string[] {
  const known = new Set(uselessNames(before));
  const useless = uselessNames(after).filter(sentence => !known.has(sentence));
  return [...(before.data_root === after.data_root ? [] : relativeRoot(after)), ...useless];
}

function relativeRoot({ data_root: place }: Readonly<ConfigObject>): string[] {
  if (typeof place !== 'string' || place === '' || path.isAbsolute(place)) return [];
  return [`data_root: '${place}' is relative, so it lies wherever the host was started; give the path from / on`];
}

/** The lists of names, and what an entry is to be. An unknown one would be believed to count. */
const NAMES = [
  {
    path: ['dumb', 'api_service', 'trusted_proxies'],
    counts: isAddressOrNetwork,
    remedy: 'is no address and no network, so no proxy is trusted by it; give one such as 172.16.0.0/12',
  },
  {
    path: ['dumb', 'api_service', 'allowed_hosts'],
    counts: (text: string) => hostNameIn(text) !== '',
    remedy: 'is no host name, so no request is served by it; give the whole name, such as media.example.com',
  },
  {
    path: ['dumb', 'frontend', 'origins'],
    counts: (text: string) => originIn(text) !== undefined,
    remedy: 'is no origin, so no page may call the API by it; give one such as https://media.example.com',
  },
] as const;

function uselessNames(root: Readonly<ConfigObject>): string[] {
  return NAMES.flatMap(({ path: place, counts, remedy }) => {
    const found = valueAt(root, place);
    const texts = Array.isArray(found) ? found.filter(text => typeof text === 'string') : [];
    return texts.filter(text => !counts(text)).map(text => `${place.join('.')}: '${text.slice(0, 100)}' ${remedy}`);
  });
}

async function missingDirectory(directory: string): Promise<string[]> {
  try {
    await access(directory);
    return [];
  } catch (error) {
    return [`dumb.plugins.dirs: no plugin is found in ${directory}: ${errorText(error)}; correct or remove it`];
  }
}
