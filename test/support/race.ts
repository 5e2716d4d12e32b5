// Races a function, run as root, against another user who exchanges what a path stands for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

export const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;
/** Skips tests that need root and another user. */
export const ROOT_ONLY = { skip: isRoot ? false : 'only root can be attacked by another user' };

const SWAPPER = path.join(import.meta.dirname, 'swapper.cjs');

export interface Race {
  /** The path that stands for each of `others` in turn, and in between for nothing. */
  readonly place: string;
  /** Existing entries that `nobody` may rename. */
  readonly others: readonly string[];
  /** How often the work is done at least. Default: 10,000. */
  readonly rounds?: number;
  readonly work: () => Promise<unknown>;
}

/**
 * Repeats the work while `nobody` exchanges the entries at least 10,000 times. Returns how often the work succeeded;
 * failures of the work are ignored.
 */
export async function race({ place, others, rounds = 10_000, work }: Race): Promise<number> {
  const swapper = spawn(process.execPath, [SWAPPER, place, ...others], {
    uid: NOBODY,
    gid: NOBODY,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(swapper, 'exit');
  let said = '';
  swapper.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(swapper.stdout, 'data');
  let done = 0;
  let succeeded = 0;
  const run = async (): Promise<void> => {
    while (swapper.exitCode === null && (done < rounds || !said.includes('enough'))) {
      done += 1;
      await work().then(
        () => {
          succeeded += 1;
        },
        () => undefined,
      );
    }
  };
  await Promise.all([run(), run(), run(), run()]);
  swapper.stdin.end();
  await exited;
  return succeeded;
}
