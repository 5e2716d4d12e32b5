// `/ws/logs`: every line of the own log as it is written, in batches; a slow client loses the oldest and is told how many.
import { formatLine, type Host, type LogHub, type StreamClient } from '#core';

const BATCH_MS = 50;
const BATCH_LINES = 200;
const MAX_QUEUED_LINES = 5_000;
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** Above this the network does not keep up, and lines wait in the queue. */
const MAX_UNSENT_BYTES = 1024 * 1024;

export class LogStream {
  readonly #queues = new Set<ClientQueue>();

  constructor(host: Host, hub: LogHub) {
    host.stream({
      path: '/ws/logs',
      summary: 'The own log and captured output, live: one or more lines per message',
      pong: 'pong',
      open: client => {
        const queue = new ClientQueue(client);
        this.#queues.add(queue);
        return () => {
          this.#queues.delete(queue);
          queue.close();
        };
      },
    });
    const unsubscribe = hub.subscribe(lines => {
      for (const queue of this.#queues) queue.add(lines);
    });
    host.signal.addEventListener('abort', () => void unsubscribe());
  }
}

class ClientQueue {
  readonly #client: StreamClient;
  #lines: string[] = [];
  #bytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(client: StreamClient) {
    this.#client = client;
  }

  add(lines: readonly string[]): void {
    for (const line of lines) {
      this.#lines.push(line);
      this.#bytes += line.length;
    }
    while (this.#lines.length > MAX_QUEUED_LINES || this.#bytes > MAX_QUEUED_BYTES) {
      this.#bytes -= this.#lines.shift()?.length ?? 0;
      this.#dropped += 1;
    }
    this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#lines = [];
  }

  #flush(): void {
    this.#timer = undefined;
    while (this.#lines.length > 0 && this.#client.unsentBytes < MAX_UNSENT_BYTES) {
      const batch = this.#lines.splice(0, BATCH_LINES);
      for (const line of batch) this.#bytes -= line.length;
      if (this.#dropped > 0) {
        batch.unshift(
          formatLine(Date.now(), 'WARNING', `${this.#dropped} lines were dropped: this client is too slow`),
        );
        this.#dropped = 0;
      }
      this.#client.send(batch.join('\n'));
    }
    if (this.#lines.length > 0) this.#timer = setTimeout(() => this.#flush(), BATCH_MS);
  }
}
