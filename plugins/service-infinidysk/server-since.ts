// Refuses a start with the managed server of a release that knows none: its data would be in SQLite, where nobody looks.
import { type NamedBlock, Problem } from '#core';
import { isAtLeast } from '#kit/tool-version';

/** A build of a branch or a commit says no number, and is taken for a present one. */
const RELEASE = /^v?(\d+(?:\.\d+)*)/;

/** `since` is the first release that knows one. */
export function refuseServer({ processName }: NamedBlock, version: string | null | undefined, since: string): void {
  const [, number] = RELEASE.exec(version ?? '') ?? [];
  if (number === undefined || isAtLeast(number, since)) return;
  throw new Problem(
    400,
    `${processName} was not started: its release ${version} knows no PostgreSQL; ` +
      `install ${since} or later, or switch postgres_enabled off`,
  );
}
