// `/ws/logs`: streams every line of the host's own log, at once while it is quiet and in batches while it is not; a
// slow client loses the oldest lines and is told how many. Messages are made once for all clients.

import type { Disposer, Host, LogHub, StreamClient } from '#core';
import { formatLine, formatRecord } from '#kit/log-line';
import { Throttle } from '#kit/throttle';

const BATCH_MS = 50;
const BATCH_LINES = 200;
const BATCH_CHARACTERS = 256 * 1024;
const MAX_QUEUED_LINES = 5_000;
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** While a client has more unsent data than this, lines wait in its queue. */
const MAX_UNSENT_BYTES = 1024 * 1024;

/** The lines of one message. All clients share its bytes, so that their queues need little memory. */
interface Batch {
  readonly bytes: Buffer;
  readonly lines: number;
}

export class LogStream {
  readonly #hub: LogHub;
  readonly #queues = new Set<ClientQueue>();
  #lines: string[] = [];
  #characters = 0;
  readonly #soon = new Throttle(() => this.#flush(), BATCH_MS);
  /** Ends the subscription to the log; present while there are clients. */
  #unsubscribe: Disposer | undefined;

  constructor(host: Host, hub: LogHub) {
    this.#hub = hub;
    host.stream({
      path: '/ws/logs',
      summary: 'The own log and captured output, live: one or more lines per message',
      pong: 'pong',
      open: client => {
        // A new client gets no earlier lines, so they are shared before it is added.
        this.#share();
        const queue = new ClientQueue(client);
        this.#queues.add(queue);
        this.#listen();
        return () => {
          this.#queues.delete(queue);
          if (this.#queues.size === 0) this.#rest();
        };
      },
    });
    host.signal.addEventListener('abort', () => this.#rest());
  }

  #listen(): void {
    this.#unsubscribe ??= this.#hub.subscribe(records => {
      for (const record of records) this.#add(formatRecord(record));
      this.#soon.call();
    });
  }

  #add(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#lines.length >= BATCH_LINES || this.#characters >= BATCH_CHARACTERS) this.#share();
  }

  #rest(): void {
    void this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#soon.cancel();
    this.#lines = [];
    this.#characters = 0;
  }

  #flush(): void {
    this.#share();
    let isBehind = false;
    for (const queue of this.#queues) isBehind = !queue.send() || isBehind;
    if (isBehind) this.#soon.call();
  }

  #share(): void {
    if (this.#lines.length === 0) return;
    const batch: Batch = { bytes: Buffer.from(this.#lines.join('\n')), lines: this.#lines.length };
    this.#lines = [];
    this.#characters = 0;
    for (const queue of this.#queues) queue.add(batch);
  }
}

class ClientQueue {
  readonly #client: StreamClient;
  readonly #batches: Batch[] = [];
  #lines = 0;
  #bytes = 0;
  #dropped = 0;

  constructor(client: StreamClient) {
    this.#client = client;
  }

  add(batch: Batch): void {
    this.#batches.push(batch);
    this.#lines += batch.lines;
    this.#bytes += batch.bytes.length;
    this.send();
    while (this.#lines > MAX_QUEUED_LINES || this.#bytes > MAX_QUEUED_BYTES) this.#dropped += this.#take()?.lines ?? 0;
  }

  /** Sends while the client's unsent data is below the limit; returns false when batches still wait. */
  send(): boolean {
    while (this.#batches.length > 0 && this.#client.unsentBytes < MAX_UNSENT_BYTES) {
      if (this.#dropped > 0) {
        const text = `logs: ${this.#dropped} lines were dropped: this client is too slow`;
        this.#client.send(formatLine(Date.now(), 'WARNING', text));
        this.#dropped = 0;
      }
      const batch = this.#take();
      if (batch !== undefined) this.#client.send(batch.bytes);
    }
    return this.#batches.length === 0;
  }

  #take(): Batch | undefined {
    const batch = this.#batches.shift();
    this.#lines -= batch?.lines ?? 0;
    this.#bytes -= batch?.bytes.length ?? 0;
    return batch;
  }
}
