// The lines of a host's own log, whole.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestHost } from './host.ts';

/** Without those that are still on their way to the disk. */
export async function ownLog({ configDir }: Pick<TestHost, 'configDir'>): Promise<string[]> {
  const directory = path.join(configDir, 'log');
  const names = (await readdir(directory)).filter(name => name.startsWith('DUMB-')).sort();
  const texts = await Promise.all(names.map(name => readFile(path.join(directory, name), 'utf8')));
  return texts.flatMap(text => text.split('\n').filter(Boolean));
}
