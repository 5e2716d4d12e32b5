// The text of a plan: for each directory a head line with its real place, then one line of JSON for each change, in the
// same form as in reports and journals.
import { type RawPath, rawOf } from '../places/raw-path.ts';

/** The place of the changes whose lines follow. */
export interface PlanHead {
  /** The number of the file system that held the directory when the plan was made. */
  readonly device: number;
  /** The real directory of the links. */
  readonly directory: RawPath;
  /** For moves: the real roots, the path of the directory below both, and the destination's file system. */
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

/** The head in a line; undefined for the line of a change. */
export function headOf(line: string): PlanHead | undefined {
  return line.startsWith(MARK) ? (JSON.parse(line.slice(MARK.length)) as PlanHead) : undefined;
}
