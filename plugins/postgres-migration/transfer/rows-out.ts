// A `COPY ... TO STDOUT` in a session of pg. The server sends a message for each row. The heads of the messages are
// removed within the received buffer, because an object for each message would cost more than the server needs to make
// a row.
import type { Connection, Submittable } from 'pg';

/** The kind of a message, and its length, which includes the length field. */
const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;
const COPY_DATA = 0x64;
/**
 * Messages that are skipped: the begin of the rows (H), and those that a server may send at any time: a setting (S), a
 * notice (N) and a notification (A).
 */
const BESIDE: ReadonlySet<number> = new Set(Buffer.from('HSNA'));

type Listener = (bytes: Buffer) => void;

export class RowsOut implements Submittable {
  /** Rejects with the error of the server, or with that of `take`, which ends the connection. */
  readonly ended: Promise<void>;
  readonly #sql: string;
  readonly #take: (rows: Uint8Array) => void;
  readonly #listener: Listener = bytes => this.#receive(bytes);
  #connection: Connection | undefined;
  /** The listener of pg, which handles all other messages of the server. */
  #others: Listener = () => undefined;
  #onEnd: () => void = () => undefined;
  #onError: (error: unknown) => void = () => undefined;
  /** The beginning of a message whose head has not come completely. */
  #begun = Buffer.alloc(0);
  /** Bytes of the present message that have not come yet, and whether it is a row. */
  #left = 0;
  #isRow = false;

  /** `take` gets pieces of rows, which begin and end anywhere and are valid until it returns. */
  constructor(sql: string, take: (rows: Uint8Array) => void) {
    this.#sql = sql;
    this.#take = take;
    this.ended = new Promise((resolve, reject) => {
      this.#onEnd = resolve;
      this.#onError = reject;
    });
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    const [others] = connection.stream.listeners('data');
    this.#others = others as Listener;
    connection.stream.off('data', this.#others);
    connection.stream.on('data', this.#listener);
    connection.query(this.#sql);
  }

  handleCommandComplete(): void {
    // The session is ready for another query only after this.
  }

  handleReadyForQuery(): void {
    this.#onEnd();
  }

  handleError(error: unknown): void {
    this.#onError(error);
  }

  #receive(received: Buffer): void {
    const bytes = this.#begun.length === 0 ? received : Buffer.concat([this.#begun, received]);
    this.#begun = Buffer.alloc(0);
    let kept = 0;
    let at = 0;
    let isOver = false;
    while (at < bytes.length) {
      if (this.#left === 0) {
        if (bytes.length - at < HEAD_BYTES) break;
        isOver = !this.#begin(bytes, at);
        if (isOver) break;
        at += HEAD_BYTES;
      }
      const end = at + Math.min(this.#left, bytes.length - at);
      if (this.#isRow) {
        bytes.copyWithin(kept, at, end);
        kept += end - at;
      }
      this.#left -= end - at;
      at = end;
    }
    if (!isOver) this.#begun = Buffer.from(bytes.subarray(at));
    if (kept > 0) this.#hand(bytes.subarray(0, kept));
    if (isOver) this.#leave(bytes.subarray(at));
  }

  /** Begins the message whose head is at `at`; false for the first message behind the rows. */
  #begin(bytes: Buffer, at: number): boolean {
    const kind = bytes[at] as number;
    this.#isRow = kind === COPY_DATA;
    if (!this.#isRow && !BESIDE.has(kind)) return false;
    this.#left = Math.max(0, bytes.readUInt32BE(at + 1) - LENGTH_BYTES);
    return true;
  }

  #hand(rows: Uint8Array): void {
    try {
      this.#take(rows);
    } catch (error) {
      this.#onError(error);
      this.#connection?.stream.destroy();
    }
  }

  /** Hands the messages behind the rows to pg again. */
  #leave(rest: Buffer): void {
    const stream = this.#connection?.stream;
    stream?.off('data', this.#listener);
    stream?.on('data', this.#others);
    this.#others(rest);
  }
}
