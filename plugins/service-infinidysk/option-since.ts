// Refuses a start with an option that the release does not know: it would pass over it, with its data where nobody
// looks.
import { type NamedBlock, Problem } from '#core';
import { isAtLeast } from '#kit/tool-version';

/** A build of a branch or a commit says no number, and is taken for a present one. */
const RELEASE = /^v?(\d+(?:\.\d+)*)/;

export interface OptionSince {
  readonly option: string;
  /** The first that knows the option. */
  readonly release: string;
}

/** For a block that has the option switched on. */
export function refuseUnknownOption(
  { processName }: NamedBlock,
  version: string | null | undefined,
  { option, release }: OptionSince,
): void {
  const [, number] = RELEASE.exec(version ?? '') ?? [];
  if (number === undefined || isAtLeast(number, release)) return;
  throw new Problem(
    400,
    `${processName} was not started: its release ${version} does not know ${option}; ` +
      `install ${release} or later, or switch ${option} off`,
  );
}
