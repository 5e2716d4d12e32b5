// The memory that answers take which their clients do not read: limited for all together and in time.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { memoryLimitBytes } from '../kit/memory-limit.ts';

const BUDGET_BYTES = 32 * 1024 * 1024;
const SHARE_OF_MEMORY = 1 / 8;
/** Smaller ones cost little more than their connections. */
const SMALL_BYTES = 64 * 1024;
const UNREAD_MS = 60_000;

export class UnreadAnswers {
  readonly #budgetBytes = Math.min(BUDGET_BYTES, memoryLimitBytes() * SHARE_OF_MEMORY);
  readonly #unreadMs: number;
  /** Bytes by connection, the one that is unread longest first. */
  readonly #unread = new Map<Socket, number>();
  #bytes = 0;

  /** A client that takes nothing of its answer for `unreadMs` is cut off. */
  constructor(unreadMs = UNREAD_MS) {
    this.#unreadMs = unreadMs;
  }

  /**
   * Counts what of an answer that has ended the system did not take, until its client has read it or is gone. One that
   * is still read from a stream holds little, and is limited in time alone.
   */
  watch({ socket }: IncomingMessage, response: ServerResponse): void {
    const bytes = response.writableLength;
    const hasEnded = response.writableEnded;
    if (socket.destroyed || (hasEnded && bytes <= SMALL_BYTES)) return;
    this.#forget(socket);
    // Nobody listens for it, so Node closes the connection; writing any part begins it anew.
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
