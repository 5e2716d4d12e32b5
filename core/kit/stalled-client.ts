// Ends connections whose clients neither take what they asked for nor send what they began. However slow, and however
// long there is nothing to tell: who makes some progress goes on. An end in order would leave what is unread in the
// kernel.
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refuseSocket } from './refusal.ts';

/** What a client without a connection may take to come back. */
const STALLED_MS = 60_000;

/**
 * Ends the connection of an answer whose client takes nothing of it, or sends nothing of its request, for `stalledMs`.
 */
export function endWhenStalled(response: ServerResponse, stalledMs = STALLED_MS): void {
  response.setTimeout(stalledMs, () => {
    const { req: request, socket } = response;
    if (socket === null) return;
    const isUnsent = !request.complete && request.readableLength === 0;
    if (hasUnread(socket)) socket.resetAndDestroy();
    else if (isUnsent && response.headersSent) socket.destroy();
    else if (isUnsent) refuseSocket(socket, 408, 'The request stopped arriving; send it again');
    // Without anything to send or take, no other event would begin it anew.
    else socket.setTimeout(stalledMs);
  });
}

/** Ends a connection that left HTTP when its other side takes nothing for `stalledMs`. */
export function endWhenUnread(connection: Duplex, stalledMs = STALLED_MS): void {
  if (!(connection instanceof Socket)) return;
  connection.setTimeout(stalledMs).on('timeout', () => {
    if (hasUnread(connection)) connection.resetAndDestroy();
    else connection.setTimeout(stalledMs);
  });
}

function hasUnread({ writableLength }: Socket): boolean {
  return writableLength > 0;
}
