// The lines of a host's own log, whole.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestHost } from './host.ts';

/** Without those that are still on their way to the disk. */
export async function ownLog({ configDir }: Pick<TestHost, 'configDir'>): Promise<string[]> {
  return (await ownLogText(path.join(configDir, 'log'))).split('\n').filter(Boolean);
}

/** Of the directory that `dumb.log_dir` names; each day has a file of its own. */
export async function ownLogText(logDir: string): Promise<string> {
  const names = (await readdir(logDir)).filter(name => name.startsWith('DUMB-')).sort();
  return (await Promise.all(names.map(name => readFile(path.join(logDir, name), 'utf8')))).join('');
}
