// Keeps copies of configuration files with which the host has started successfully.
import { copyFile, readFile, rename, rm } from 'node:fs/promises';
import type { Logger } from '../contract/log.ts';
import type { ConfigText } from './load.ts';

/** Suffixes of the copies' names, the newest first. */
export const BACKUPS = ['.bak', '.bak.1', '.bak.2', '.bak.3', '.bak.4'];

/** Keeps the last five files that differ. */
export async function keepBackup({ file, text }: ConfigText, log: Logger): Promise<void> {
  try {
    if ((await readFile(file + BACKUPS[0], 'utf8').catch(() => null)) === text) return;
    await rm(file + BACKUPS.at(-1), { force: true });
    for (let index = BACKUPS.length - 1; index > 0; index -= 1) {
      await rename(`${file}${BACKUPS[index - 1]}`, `${file}${BACKUPS[index]}`).catch(ignoreAbsent);
    }
    await copyFile(file, file + BACKUPS[0]);
  } catch (error) {
    log.warn('no backup of the configuration could be made', error);
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
