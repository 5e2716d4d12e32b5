// Reads the complete lines of a host's own log.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TestHost } from './host.ts';
import { until } from './until.ts';

const MARK = 'test: mark ';
let marks = 0;

/** All lines so far. The host writes lines in batches, so this logs one more line, waits for it and leaves it out. */
export async function ownLog({ host, configDir }: Pick<TestHost, 'host' | 'configDir'>): Promise<string[]> {
  const written = () => ownLogText(path.join(configDir, 'log'));
  const hasEnded = await Promise.race([host.stopped.then(() => true), nextTurn(false)]);
  if (!hasEnded) {
    marks += 1;
    const mark = `${MARK}${marks}.`;
    host.log.error(mark);
    await until(async () => (await written()).includes(mark), { what: 'the last line of the log' });
  }
  return (await written()).split('\n').filter(line => line !== '' && !line.includes(MARK));
}

/**
 * What has reached the files in the directory that `dumb.log_dir` names, one file for each day. Lines may still be on
 * their way, so read it until a line is there, or once the host has stopped. `ownLog` waits by itself.
 */
export async function ownLogText(logDir: string): Promise<string> {
  const names = (await readdir(logDir)).filter(name => name.startsWith('DUMB-')).sort();
  return (await Promise.all(names.map(name => readFile(path.join(logDir, name), 'utf8')))).join('');
}
