// Pipelined requests: those that a client sends on one connection without waiting for answers. Each is handled when the
// answer before it is complete, because answers are sent in order, and those made early would fill the memory.
import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait. One more closes the connection; the client may send them again. */
const MAX_WAITING = 16;

interface Turn {
  readonly response: ServerResponse;
  readonly handle: () => void;
}

export class RequestTurns {
  /** For each connection with a request in progress: the answer, the waiting requests, and the last step, if any. */
  readonly #handled = new Map<Socket, { response: ServerResponse; readonly waiting: Turn[]; last?: () => void }>();

  /** Calls `handle` at once, or when all earlier requests of the connection are answered. */
  take({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void {
    if (socket.destroyed) return;
    const handled = this.#handled.get(socket);
    if (handled === undefined) {
      this.#handled.set(socket, { response, waiting: [] });
      this.#begin(socket, { response, handle });
    } else if (handled.last !== undefined) return;
    else if (handled.waiting.length < MAX_WAITING) {
      // Without a context of its own, the request would run in that of the plugin that gives the answer before it.
      const context = new AsyncResource('request');
      handled.waiting.push({ response, handle: () => context.runInAsyncScope(handle) });
    } else socket.destroy();
  }

  /**
   * Ends a connection that has received invalid HTTP. `refuse` answers it, after every complete request before it. When
   * the error is in the body of the request in progress, its answer is cut if it has begun.
   */
  end(socket: Socket, refuse: () => void): void {
    const handled = this.#handled.get(socket);
    if (handled === undefined) refuse();
    else if (handled.response.req.complete && !socket.readableEnded) {
      handled.last ??= refuse;
      if (handled.waiting.at(-1)?.response.req.complete === false) handled.waiting.pop();
    } else if (handled.response.headersSent) socket.destroy();
    else refuse();
  }

  /** Whether a request of this connection is in progress. */
  isTaken(socket: Socket): boolean {
    return this.#handled.has(socket);
  }

  /** The answers in progress. */
  unanswered(): ServerResponse[] {
    return [...this.#handled.values()].map(({ response }) => response);
  }

  #begin(socket: Socket, { response, handle }: Turn): void {
    response.once('close', () => {
      const handled = this.#handled.get(socket);
      const next = socket.destroyed ? undefined : handled?.waiting.shift();
      if (handled === undefined || next === undefined) {
        this.#handled.delete(socket);
        if (!socket.destroyed) handled?.last?.();
        return;
      }
      handled.response = next.response;
      this.#begin(socket, next);
    });
    handle();
  }
}
