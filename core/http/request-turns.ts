// The requests that a client sends into one connection without waiting for answers: each is handled when the one before
// it is answered and read, because answers are given in order, and those of requests handled before their turn would
// fill the memory.
import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A client with more of them has its connection closed, and may ask again for what was not answered. */
const MAX_WAITING = 16;

interface Turn {
  readonly response: ServerResponse;
  readonly handle: () => void;
}

export class RequestTurns {
  /** By connection on which a request is handled: its answer, what waits behind it, and what ends it. */
  readonly #handled = new Map<Socket, { response: ServerResponse; readonly waiting: Turn[]; last?: () => void }>();

  /** Calls `handle` at once, or when everything that came before it on this connection is answered. */
  take({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void {
    if (socket.destroyed) return;
    const handled = this.#handled.get(socket);
    if (handled === undefined) {
      this.#handled.set(socket, { response, waiting: [] });
      this.#begin(socket, { response, handle });
    } else if (handled.last !== undefined) return;
    else if (handled.waiting.length < MAX_WAITING) {
      // Otherwise it would count as the work of whoever gives the answer before it.
      const context = new AsyncResource('request');
      handled.waiting.push({ response, handle: () => context.runInAsyncScope(handle) });
    } else socket.destroy();
  }

  /**
   * Ends a connection on which something came that is no request; `refuse` answers it, after every whole request before
   * it. Where it belongs to the request that is handled, the answer to that is cut if it has begun.
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

  /** Whether a request of this connection is not answered and read yet. */
  isTaken(socket: Socket): boolean {
    return this.#handled.has(socket);
  }

  /** The answers that are being given. */
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
