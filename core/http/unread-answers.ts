// Limits answers that clients do not read: the memory of all of them together, and the time of each.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { memoryLimitBytes } from '../kit/memory-limit.ts';

const BUDGET_BYTES = 32 * 1024 * 1024;
const SHARE_OF_MEMORY = 1 / 8;
/** Answers up to this size are not counted, because they cost little more than their connections. */
const SMALL_BYTES = 64 * 1024;
const UNREAD_MS = 60_000;

export class UnreadAnswers {
  readonly #budgetBytes = Math.min(BUDGET_BYTES, memoryLimitBytes() * SHARE_OF_MEMORY);
  readonly #unreadMs: number;
  /** Unsent bytes by connection; the connection that is unread longest is first. */
  readonly #unread = new Map<Socket, number>();
  #bytes = 0;

  /** The connection of a client that reads nothing of its answer for `unreadMs` is closed. */
  constructor(unreadMs = UNREAD_MS) {
    this.#unreadMs = unreadMs;
  }

  /**
   * Counts the bytes of a complete answer that are still in memory, until the client has read it or is gone. An answer
   * that is still read from a stream holds little memory, so only its time is limited.
   */
  watch({ socket }: IncomingMessage, response: ServerResponse): void {
    const bytes = response.writableLength;
    const hasEnded = response.writableEnded;
    if (socket.destroyed || (hasEnded && bytes <= SMALL_BYTES)) return;
    this.#forget(socket);
    // Without a listener for the time-out, Node closes the connection. Each write of a part restarts the time.
    socket.setTimeout(this.#unreadMs);
    if (!hasEnded) return;
    this.#unread.set(socket, bytes);
    this.#bytes += bytes;
    response.once('close', () => this.#forget(socket));
    this.#cutLongest();
  }

  #cutLongest(): void {
    for (const socket of this.#unread.keys()) {
      if (this.#bytes <= this.#budgetBytes || this.#unread.size === 1) return;
      this.#forget(socket);
      socket.destroy();
    }
  }

  #forget(socket: Socket): void {
    this.#bytes -= this.#unread.get(socket) ?? 0;
    this.#unread.delete(socket);
  }
}
