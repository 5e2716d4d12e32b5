// Words of the configuration that fit the schema and stand for nothing here, each with what is done instead.
import { access } from 'node:fs/promises';
import type { ConfigStore } from '../contract/config.ts';
import { isTimeZone } from '../jobs/schedule.ts';
import { errorText } from '../kit/error-text.ts';
import { unknownLevels, unknownLevelsOf } from './log-levels.ts';

/** One line for each. */
export async function unusedWords(store: ConfigStore): Promise<string[]> {
  const directories = (store.get('dumb.plugins.dirs') ?? []) as readonly string[];
  const missing = await Promise.all(directories.map(missingDirectory));
  return [...unknownLevels(store.root()), ...unknownLevelsOf(store.blocks()), ...unknownZone(store), ...missing.flat()];
}

function unknownZone(store: ConfigStore): string[] {
  const zone = store.get('tz');
  if (typeof zone !== 'string' || zone === '' || isTimeZone(zone)) return [];
  return [`tz: '${zone}' is no known time zone, so schedules follow local time; name one such as Europe/Berlin`];
}

async function missingDirectory(directory: string): Promise<string[]> {
  try {
    await access(directory);
    return [];
  } catch (error) {
    return [`dumb.plugins.dirs: no plugin is found in ${directory}: ${errorText(error)}; correct or remove it`];
  }
}
