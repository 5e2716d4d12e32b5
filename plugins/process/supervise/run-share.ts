// What a run shares with processes that are started beside it: its marks, and the file of its output.
import type { FileHandle } from 'node:fs/promises';
import { Problem } from '#core';
import { GuardedDirectory } from '#kit/guarded-directory';
import type { RunShare } from '../contract.ts';
import type { Run } from './run.ts';
import { marksOf } from './run-marks.ts';

export interface Shared {
  readonly processName: string;
  /** The directory of the supervisor's state. */
  readonly directory: string;
  /** Whether the run is being ended. */
  isEnding(): boolean;
}

export function shareOf({ target, output, exited }: Run, { processName, directory, isEnding }: Shared): RunShare {
  let hasExited = false;
  void exited.then(() => {
    hasExited = true;
  });
  const isOver = (): boolean => hasExited || isEnding();
  return {
    variables: marksOf({ runId: target.runId, processName, directory }),
    async openOutput() {
      const opened = await openSpool(output.spoolFile).catch((error: unknown) => {
        if (!isOver()) throw error;
      });
      // Nobody looks for a program any more that is started behind the last look at the processes of the run.
      if (opened !== undefined && !isOver()) return opened;
      await opened?.close();
      throw new Problem(409, `${processName} has ended or is being stopped; start it before it is joined`);
    },
  };
}

function openSpool(file: string): Promise<FileHandle> {
  return GuardedDirectory.at(file, (held, name) => held.openFile(name, 'extend'));
}
