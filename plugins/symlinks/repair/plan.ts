// The text of a plan: for each directory a line that says where things really are, then one line of JSON for each
// change, in the form in which reports and journals have them.
import { type RawPath, rawOf } from '../places/raw-path.ts';

/** Where the changes behind it are made. */
export interface PlanHead {
  /** The number of the file system that held the directory when the plan was made. */
  readonly device: number;
  /** The real directory of the links. */
  readonly directory: RawPath;
  /** For moves: the real roots, the path of the directory below both, and the file system where it is to be. */
  readonly move?: {
    readonly from: RawPath;
    readonly to: RawPath;
    readonly below: RawPath;
    readonly toDevice: number;
  };
}

const MARK = '@';

export function headLine(head: PlanHead): RawPath {
  return rawOf(`${MARK}${JSON.stringify(head)}\n`);
}

/** undefined for a line of a change. */
export function headOf(line: string): PlanHead | undefined {
  return line.startsWith(MARK) ? (JSON.parse(line.slice(MARK.length)) as PlanHead) : undefined;
}
