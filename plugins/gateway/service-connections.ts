// Connections to services. Few of them are kept for later requests, because those that wait there are among no
// connections that are counted, and clients could use up the descriptors with them.
import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { descriptorLimit } from '#kit/descriptors';

const KEEP_ALIVE_MS = 2 * 60_000;
/** Of silence, before the system asks whether the service is still there. */
export const PROBE_AFTER_MS = 60_000;
const SHARE_OF_DESCRIPTORS = 1 / 64;
const MAX_KEPT = 64;

export class ServiceConnections extends Agent {
  readonly #maxKept = Math.min(MAX_KEPT, Math.max(1, Math.floor(descriptorLimit() * SHARE_OF_DESCRIPTORS)));

  constructor() {
    super({ keepAlive: true, keepAliveMsecs: PROBE_AFTER_MS, timeout: KEEP_ALIVE_MS });
  }

  /** Asked after an answer; false closes the connection. */
  override keepSocketAlive(socket: Duplex): boolean {
    const kept = Object.values(this.freeSockets).reduce((count, sockets = []) => count + sockets.length, 0);
    // What the types do not know: the service may have said that it closes the connection sooner than that is safe.
    return kept < this.#maxKept && (super.keepSocketAlive(socket) as unknown) !== false;
  }
}
