// Finds values of the configuration that fit the schema but have no effect here, and says what is done instead.
import { access } from 'node:fs/promises';
import path from 'node:path';
import type { ConfigCandidate, ConfigObject, ConfigStore } from '../contract/config.ts';
import { errorText } from '../kit/error-text.ts';
import { isTimeZone } from '../kit/time-zone.ts';
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
    ...missing.flat(),
  ];
}

function unknownZone(store: ConfigStore): string[] {
  const zone = store.get('tz');
  if (typeof zone !== 'string' || zone === '' || isTimeZone(zone)) return [];
  return [`tz: '${zone}' is no known time zone, so schedules follow local time; name one such as Europe/Berlin`];
}

/** The sentences about values that an update changes; of all values, only `data_root` is looked at. */
export function newUnusedWords({ before, after }: Pick<ConfigCandidate, 'before' | 'after'>): string[] {
  return before.data_root === after.data_root ? [] : relativeRoot(after);
}

function relativeRoot({ data_root: place }: Readonly<ConfigObject>): string[] {
  if (typeof place !== 'string' || place === '' || path.isAbsolute(place)) return [];
  return [`data_root: '${place}' is relative, so it lies wherever the host was started; give the path from / on`];
}

async function missingDirectory(directory: string): Promise<string[]> {
  try {
    await access(directory);
    return [];
  } catch (error) {
    return [`dumb.plugins.dirs: no plugin is found in ${directory}: ${errorText(error)}; correct or remove it`];
  }
}
