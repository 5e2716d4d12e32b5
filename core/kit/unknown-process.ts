// The answer to a request that names a process which the configuration does not have.
import { Problem } from '../contract/problem.ts';

const MAX_NAME = 100;

export function unknownProcess(name: string): Problem {
  const what = `'${name.slice(0, MAX_NAME)}' is no process_name of the configuration`;
  return new Problem(404, `Process not found: ${what}; GET /process/processes lists them`);
}
