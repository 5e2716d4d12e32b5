// Connections to services. Few idle ones are kept for later requests: the limits on connections do not count them, so
// clients could use up the file descriptors with them.
import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { descriptorLimit } from '#kit/descriptors';

const KEEP_ALIVE_MS = 2 * 60_000;
/** How long a connection may be silent before the system probes whether the service is still there. */
export const PROBE_AFTER_MS = 60_000;
const SHARE_OF_DESCRIPTORS = 1 / 64;
const MAX_KEPT = 64;

export class ServiceConnections extends Agent {
  readonly #maxKept = Math.min(MAX_KEPT, Math.max(1, Math.floor(descriptorLimit() * SHARE_OF_DESCRIPTORS)));

  constructor() {
    super({ keepAlive: true, keepAliveMsecs: PROBE_AFTER_MS, timeout: KEEP_ALIVE_MS });
  }

  /** Node asks this after an answer; false closes the connection. */
  override keepSocketAlive(socket: Duplex): boolean {
    const kept = Object.values(this.freeSockets).reduce((count, sockets = []) => count + sockets.length, 0);
    // `super` returns false, which its type does not tell, when the service has announced that it closes too soon.
    return kept < this.#maxKept && (super.keepSocketAlive(socket) as unknown) !== false;
  }
}
