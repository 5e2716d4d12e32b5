// A `COPY ... FROM STDIN` in a session of pg. A piece of rows belongs to the caller again once `write` has resolved.
import type { Connection, Submittable } from 'pg';

const COPY_DATA = 0x64;
const COPY_DONE = Buffer.of(0x63, 0, 0, 0, 4);
/** The kind of a message, and its length, which includes the length field. */
const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;

export class RowsIn implements Submittable {
  readonly #sql: string;
  readonly #begun: Promise<void>;
  readonly #ended: Promise<void>;
  readonly #failed: Promise<never>;
  #connection: Connection | undefined;
  #onBegin: () => void = () => undefined;
  #onEnd: () => void = () => undefined;
  #onError: (error: unknown) => void = () => undefined;

  constructor(sql: string) {
    this.#sql = sql;
    this.#begun = new Promise(resolve => {
      this.#onBegin = resolve;
    });
    this.#ended = new Promise(resolve => {
      this.#onEnd = resolve;
    });
    this.#failed = new Promise((_resolve, reject) => {
      this.#onError = reject;
    });
    // A failure between two calls is thrown by the next call.
    this.#failed.catch(() => undefined);
  }

  /** Resolves when the server takes rows. Rejects with the error of the server, as `write` and `end` do. */
  begin(): Promise<void> {
    return Promise.race([this.#begun, this.#failed]);
  }

  write(bytes: Uint8Array): Promise<void> {
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt8(COPY_DATA);
    head.writeUInt32BE(bytes.length + LENGTH_BYTES, 1);
    return Promise.race([this.#failed, this.#send(head, bytes)]);
  }

  /** Resolves when the rows are in the table. */
  async end(): Promise<void> {
    await Promise.race([this.#failed, this.#send(COPY_DONE)]);
    await Promise.race([this.#failed, this.#ended]);
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.query(this.#sql);
  }

  handleCopyInResponse(): void {
    this.#onBegin();
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

  #send(...parts: Uint8Array[]): Promise<void> {
    const stream = this.#connection?.stream;
    return new Promise((resolve, reject) => {
      stream?.cork();
      for (const part of parts.slice(0, -1)) stream?.write(part);
      stream?.write(parts.at(-1), error => (error ? reject(error) : resolve()));
      stream?.uncork();
    });
  }
}
