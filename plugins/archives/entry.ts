// One entry of an archive as its reader gives it, and the rules for its name.
import type { Budget } from './budget.ts';
import { refuseEntry } from './refusal.ts';

export interface ArchiveEntry {
  /** Index among the entries of its archive, the same each time that the archive is read. */
  readonly index: number;
  /** The name as the archive spells it. */
  readonly name: string;
  /** `device` stands for everything that is none of the others, such as FIFOs. */
  readonly kind: 'file' | 'directory' | 'link' | 'hardlink' | 'device';
  /** Bytes of the content of a file, otherwise 0. */
  readonly bytes: number;
  /** Permission bits. */
  readonly mode: number;
  /** The target of a link or hard link, as the archive spells it; otherwise empty. */
  readonly target: string;
}

/** Takes the content of one file, piece by piece. */
export interface ContentSink {
  write(piece: Uint8Array): void;
  end(): void;
}

/** Reads one archive, any number of times. */
export interface ArchiveReader {
  /**
   * Calls `visit` with each entry in order, and writes the content of a file to the sink if one is returned. Everything
   * that is read counts against the budget.
   */
  each(budget: Budget, visit: (entry: ArchiveEntry) => ContentSink | undefined): Promise<void>;
  /** Frees the disk space that the reader has used, if any; the next read then takes longer. */
  release(): void;
}

const MAX_PART_BYTES = 255;
const MAX_PATH_BYTES = 1_024;
const MAX_DEPTH = 100;
const CONTROL = /\p{Cc}/u;

/**
 * The parts of a name, or of the target of a hard link; none for the root. `isRooted`: whether a leading slash means
 * the root of the archive.
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

/** Refuses characters that file systems may not keep and logs do not show. `whose` stands before the reason. */
export function refuseUnclear(name: string, text: string, whose: string): void {
  if (CONTROL.test(text)) refuseEntry(name, `${whose}holds control characters`);
  if (text.includes('\uFFFD')) refuseEntry(name, `${whose}is no text in UTF-8`);
}
