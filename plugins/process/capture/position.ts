// How far a spool was consumed, and the size of the service log then: enough to continue at that point after any kill.
import { type FileHandle, open } from 'node:fs/promises';

export interface Position {
  /** Bytes of the spool whose lines are in the log. */
  readonly consumedBytes: number;
  /** Inode of the log for the next line; 0 when there is no log. */
  readonly logInode: number;
  readonly logBytes: number;
}

const START: Position = { consumedBytes: 0, logInode: 0, logBytes: 0 };
const RECORD_BYTES = 64;

/** One record, rewritten in place by a single write within one page, so that a kill never leaves a part of it. */
export class PositionFile {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(file: string): Promise<{ positions: PositionFile; last: Position }> {
    const handle = await open(file, 'a+', 0o600).then(async created => {
      await created.close();
      return open(file, 'r+');
    });
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(RECORD_BYTES), 0, RECORD_BYTES, 0);
    const numbers = buffer.toString('latin1', 0, bytesRead).trim().split(' ').map(Number);
    const [consumedBytes, logInode, logBytes] = numbers;
    // Inodes of some file systems use all 64 bits; they are rounded here in the same way as by `stat`.
    const valid = numbers.length === 3 && numbers.every(Number.isInteger);
    const last = valid ? ({ consumedBytes, logInode, logBytes } as Position) : START;
    return { positions: new PositionFile(handle), last };
  }

  async record({ consumedBytes, logInode, logBytes }: Position): Promise<void> {
    const text = `${consumedBytes} ${logInode} ${logBytes}`.padEnd(RECORD_BYTES - 1);
    await this.#handle.write(Buffer.from(`${text}\n`, 'latin1'), 0, RECORD_BYTES, 0);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
