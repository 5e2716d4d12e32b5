// Refuses a start with an option that the installed release does not know: the release would ignore it and keep its
// data in another place than expected.
import { type NamedBlock, Problem } from '#core';
import { isAtLeast } from '#kit/tool-version';

/** The number of a release. Builds of a branch or commit have none and count as recent enough. */
const RELEASE = /^v?(\d+(?:\.\d+)*)/;

export interface OptionSince {
  readonly option: string;
  /** The first release that knows the option. */
  readonly release: string;
}

/** Called for a block with the option on. Throws a Problem 400 when `version` is older than the option. */
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
