// `/ws/logs`: streams every line of the own log, at once while it is quiet and in batches while it is not; a slow client loses the oldest lines and is told how many.

import type { Disposer, Host, LogHub, StreamClient } from '#core';
import { formatLine, formatRecord } from '#kit/log-line';
import { Throttle } from '#kit/throttle';

const BATCH_MS = 50;
const BATCH_LINES = 200;
const MAX_QUEUED_LINES = 5_000;
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** While a client has more unsent data than this, lines wait in its queue. */
const MAX_UNSENT_BYTES = 1024 * 1024;

export class LogStream {
  readonly #hub: LogHub;
  readonly #queues = new Set<ClientQueue>();
  /** Present while there are clients. */
  #unsubscribe: Disposer | undefined;

  constructor(host: Host, hub: LogHub) {
    this.#hub = hub;
    host.stream({
      path: '/ws/logs',
      summary: 'The own log and captured output, live: one or more lines per message',
      pong: 'pong',
      open: client => {
        const queue = new ClientQueue(client);
        this.#queues.add(queue);
        this.#listen();
        return () => {
          this.#queues.delete(queue);
          queue.close();
          if (this.#queues.size === 0) this.#rest();
        };
      },
    });
    host.signal.addEventListener('abort', () => this.#rest());
  }

  #listen(): void {
    this.#unsubscribe ??= this.#hub.subscribe(records => {
      const lines = records.map(record => formatRecord(record));
      for (const queue of this.#queues) queue.add(lines);
    });
  }

  #rest(): void {
    void this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }
}

class ClientQueue {
  readonly #client: StreamClient;
  #lines: string[] = [];
  #bytes = 0;
  #dropped = 0;
  readonly #soon = new Throttle(() => this.#flush(), BATCH_MS);

  constructor(client: StreamClient) {
    this.#client = client;
  }

  add(lines: readonly string[]): void {
    for (const line of lines) {
      this.#lines.push(line);
      this.#bytes += Buffer.byteLength(line);
      if (this.#lines.length % BATCH_LINES === 0) this.#send();
    }
    this.#dropped += this.#take(this.#excess()).length;
    if (this.#lines.length > 0) this.#soon.call();
  }

  close(): void {
    this.#soon.cancel();
    this.#lines = [];
  }

  #flush(): void {
    this.#send();
    if (this.#lines.length > 0) this.#soon.call();
  }

  /** Sends queued lines while the client's unsent data is below the limit. */
  #send(): void {
    while (this.#lines.length > 0 && this.#client.unsentBytes < MAX_UNSENT_BYTES) {
      const batch = this.#take(BATCH_LINES);
      if (this.#dropped > 0) {
        batch.unshift(
          formatLine(Date.now(), 'WARNING', `logs: ${this.#dropped} lines were dropped: this client is too slow`),
        );
        this.#dropped = 0;
      }
      this.#client.send(batch.join('\n'));
    }
  }

  /** Number of the oldest lines that exceed the limits of the queue. */
  #excess(): number {
    const count = Math.max(0, this.#lines.length - MAX_QUEUED_LINES);
    let bytes = this.#bytes;
    for (const [index, line] of this.#lines.entries()) {
      if (index >= count && bytes <= MAX_QUEUED_BYTES) return index;
      bytes -= Buffer.byteLength(line);
    }
    return this.#lines.length;
  }

  #take(count: number): string[] {
    const taken = this.#lines.splice(0, count);
    for (const line of taken) this.#bytes -= Buffer.byteLength(line);
    return taken;
  }
}
