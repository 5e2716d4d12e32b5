// How far a spool was consumed, and the size of the service log then: enough to continue at that point after any kill.
import type { FileHandle } from 'node:fs/promises';
import type { GuardedDirectory } from '#kit/guarded-directory';
import type { CaptureTarget } from './session-options.ts';

/** A run whose lines wait for room in the log, as the next host must know it. */
export interface WaitingRun {
  /** Place among the ended runs that wait; 0 while the run goes on. */
  readonly place: number;
  /** Number of the next bytes, whose lines the own log has already. */
  readonly heldBytes: number;
  /** Whether the log for access lines has those of the held bytes; true where an earlier version did not tell. */
  readonly hasAccess?: boolean;
  readonly target: CaptureTarget;
}

export interface Position {
  /** Bytes of the spool whose lines are in the log. */
  readonly consumedBytes: number;
  /** Device and inode of the log for the next line; 0 when there is no log. */
  readonly logDevice: number;
  readonly logInode: number;
  readonly logBytes: number;
  /** Size of what is about to be appended to that log; 0 when nothing is. */
  readonly pendingBytes: number;
  /** Path of that log; blank when there is none. */
  readonly logFile: string;
  /** Absent while no lines wait. */
  readonly waiting?: WaitingRun;
}

/** The position of a new spool. */
export const START: Position = {
  consumedBytes: 0,
  logDevice: 0,
  logInode: 0,
  logBytes: 0,
  pendingBytes: 0,
  logFile: '',
};
/** The numbers of a record; the path follows, up to a NUL, and what is known of waiting lines, up to another. */
const NUMBERS_BYTES = 96;
const RECORD_BYTES = 4_096;

/** One record, rewritten in place by a single write within one page, so that a kill never leaves a part of it. */
export class PositionFile {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** `last` is null when the record is missing or damaged. */
  static async open(
    directory: GuardedDirectory,
    name: string,
  ): Promise<{ positions: PositionFile; last: Position | null }> {
    const handle = await directory.openFile(name, 'keep', 0o600);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(RECORD_BYTES), 0, RECORD_BYTES, 0);
    const numbers = buffer.toString('latin1', 0, NUMBERS_BYTES).trim().split(' ').map(Number);
    // Records of earlier versions end with the fourth number.
    const [consumedBytes, logDevice, logInode, logBytes, pendingBytes = 0] = numbers;
    // Inodes of some file systems use all 64 bits; they are rounded here in the same way as by `stat`.
    const valid = bytesRead >= NUMBERS_BYTES && [4, 5].includes(numbers.length) && numbers.every(Number.isInteger);
    const texts = textsIn(buffer.subarray(NUMBERS_BYTES, bytesRead));
    const last = { consumedBytes, logDevice, logInode, logBytes, pendingBytes, ...texts } as Position;
    return { positions: new PositionFile(handle), last: valid ? last : null };
  }

  async record({ logFile, waiting, ...position }: Position): Promise<void> {
    const { consumedBytes, logDevice, logInode, logBytes, pendingBytes } = position;
    const numbers = [consumedBytes, logDevice, logInode, logBytes, pendingBytes].join(' ');
    const record = Buffer.from(
      `${numbers.padEnd(NUMBERS_BYTES - 1)}\n${logFile}\0${waiting === undefined ? '' : JSON.stringify(waiting)}\0`,
    );
    await this.#handle.write(record, 0, Math.min(record.length, RECORD_BYTES), 0);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** The path is blank in a record of an earlier version. A text without a NUL behind it was cut off. */
function textsIn(bytes: Buffer): Pick<Position, 'logFile' | 'waiting'> {
  const [logFile = '', text = ''] = bytes.toString('utf8').split('\0').slice(0, -1);
  try {
    const waiting = JSON.parse(text);
    return typeof waiting.place === 'number' ? { logFile, waiting } : { logFile };
  } catch {
    return { logFile };
  }
}
