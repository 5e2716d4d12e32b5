// One entry of an archive as its reader tells it, and what its name may be.
import type { Budget } from './budget.ts';
import { refuseEntry } from './refusal.ts';

export interface ArchiveEntry {
  /** Its place among the entries of its archive, the same each time that the archive is read. */
  readonly index: number;
  /** As the archive spells it. */
  readonly name: string;
  /** `device` stands for everything that is neither of the others, such as FIFOs. */
  readonly kind: 'file' | 'directory' | 'link' | 'hardlink' | 'device';
  /** Of the content of a file, otherwise 0. */
  readonly bytes: number;
  /** Permission bits. */
  readonly mode: number;
  /** Where a link or hard link leads, as the archive spells it; otherwise empty. */
  readonly target: string;
}

/** Takes the content of one file, piece by piece. */
export interface ContentSink {
  write(piece: Uint8Array): void;
  end(): void;
}

/** Of one archive; can be asked any number of times. */
export interface ArchiveReader {
  /**
   * Calls with each entry in order, and gives the content of those files for which that returns a sink. All that it
   * reads is counted against the budget.
   */
  each(budget: Budget, visit: (entry: ArchiveEntry) => ContentSink | undefined): Promise<void>;
  /** Gives back what it has kept of the disk, if anything, so that the next time takes longer. */
  release(): void;
}

const MAX_PART_BYTES = 255;
const MAX_PATH_BYTES = 1_024;
const MAX_DEPTH = 100;
const CONTROL = /\p{Cc}/u;

/**
 * The parts of a name, or of the target of a hard link; none for the root. `isRooted` says that a leading slash stands
 * for the root of the archive.
 */
export function partsOf(name: string, isRooted: boolean): string[] {
  if (name.startsWith('/') && !isRooted) refuseEntry(name, 'is an absolute path');
  if (Buffer.byteLength(name) > MAX_PATH_BYTES) refuseEntry(name, `is longer than ${MAX_PATH_BYTES} bytes`);
  refuseUnclear(name, name, '');
  const parts = name.split('/').filter(part => part !== '' && part !== '.');
  if (parts.includes('..')) refuseEntry(name, 'leads out of the folder');
  if (parts.length > MAX_DEPTH) refuseEntry(name, `lies deeper than ${MAX_DEPTH} directories`);
  if (parts.some(part => Buffer.byteLength(part) > MAX_PART_BYTES))
    refuseEntry(name, `has a part of more than ${MAX_PART_BYTES} bytes`);
  return parts;
}

/** Refuses what file systems do not keep as it is told, and logs do not show. `whose` stands before the reason. */
export function refuseUnclear(name: string, text: string, whose: string): void {
  if (CONTROL.test(text)) refuseEntry(name, `${whose}holds control characters`);
  if (text.includes('\uFFFD')) refuseEntry(name, `${whose}is no text in UTF-8`);
}
