// Ends connections whose clients neither read their answer nor send the rest of their request. A client that makes any
// progress, however slow, goes on, and so does one that waits while there is nothing to send. Connections with unread
// data are reset, because an orderly end would leave that data in the kernel.
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refuseSocket } from './refusal.ts';

/** Long enough for a client that has lost its network to come back. */
const STALLED_MS = 60_000;

/**
 * Ends the connection of an answer whose client reads nothing of it, or sends nothing of its request, for `stalledMs`.
 */
export function endWhenStalled(response: ServerResponse, stalledMs = STALLED_MS): void {
  response.setTimeout(stalledMs, () => {
    const { req: request, socket } = response;
    if (socket === null) return;
    const isUnsent = !request.complete && request.readableLength === 0;
    if (hasUnread(socket)) socket.resetAndDestroy();
    else if (isUnsent && response.headersSent) socket.destroy();
    else if (isUnsent) refuseSocket(socket, 408, 'The request stopped arriving; send it again');
    // The timer is started again, because nothing else does it while there is nothing to send or to read.
    else socket.setTimeout(stalledMs);
  });
}

/** Ends an upgraded connection, as of a WebSocket, when its client reads nothing for `stalledMs`. */
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
