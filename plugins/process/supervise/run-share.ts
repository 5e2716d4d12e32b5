// What a run shares with processes that are started beside it: its marks, and the file of its output.
import { GuardedDirectory } from '#kit/guarded-directory';
import type { RunShare } from '../contract.ts';
import type { Run } from './run.ts';
import { marksOf } from './run-marks.ts';

export function shareOf({ target, output }: Run, processName: string, directory: string): RunShare {
  return {
    variables: marksOf({ runId: target.runId, processName, directory }),
    openOutput: () => GuardedDirectory.at(output.spoolFile, (held, name) => held.openFile(name, 'extend')),
  };
}
