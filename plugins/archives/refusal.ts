// The errors of archives that are refused: one sentence that names the entry.

const MAX_NAME_LENGTH = 120;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** The archive itself is at fault. The user is shown it as a fault of the remote system from which the archive came. */
export class ArchiveRefusal extends Error {
  /** Index of the refused archive; undefined when all are refused together. */
  archive: number | undefined;
}

/** Runs `work`, and gives a refusal the index of its archive. */
export async function within<Value>(archive: number, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ArchiveRefusal) error.archive = archive;
    throw error;
  }
}

/** The disk has no room for what the archive holds. */
export class NoRoom extends Error {}

/** The program that unpacks the format of the archive is not installed. */
export class NoUnpacker extends Error {}

/** `reason` goes on after the name, for example `leads out of the folder`. */
export function refuseEntry(name: string, reason: string): never {
  throw new ArchiveRefusal(`${quoted(name)} ${reason}`);
}

/** The name as one short line, since it may hold anything. */
export function quoted(name: string): string {
  const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}...` : name;
  return `"${short.replaceAll(UNPRINTABLE, '?')}"`;
}
