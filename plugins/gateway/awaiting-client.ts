// The connection of a client that waits for a service to accept its upgrade. It is read meanwhile, because only a
// reader notices that the client has left.
import type { Duplex } from 'node:stream';

/** How much a client may send before the service has answered; WebSocket clients send nothing until then. */
const MAX_EARLY_BYTES = 64 * 1024;
/** How long one side may go on after the other has ended. */
const LINGER_MS = 5_000;

export class AwaitingClient {
  readonly #socket: Duplex;
  readonly #early: Buffer[];
  #earlyBytes = 0;

  /** `head` holds the bytes that came with the request. The connection is destroyed when the client leaves. */
  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket;
    this.#early = [head];
    socket.on('data', this.#keep);
    socket.once('end', this.#leave);
  }

  /** Joins the client's connection with the one to the service, until either side ends. */
  connect(service: Duplex): void {
    const socket = this.#socket;
    socket.off('data', this.#keep);
    socket.off('end', this.#leave);
    for (const chunk of this.#early) if (chunk.length > 0) service.write(chunk);
    service.on('error', () => socket.destroy());
    service.once('close', () => socket.destroy());
    socket.once('close', () => service.destroy());
    for (const side of [socket, service]) side.once('end', () => destroySoon(socket));
    socket.pipe(service).pipe(socket);
  }

  readonly #keep = (chunk: Buffer): void => {
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > MAX_EARLY_BYTES) this.#socket.destroy();
    else this.#early.push(chunk);
  };

  readonly #leave = (): void => {
    this.#socket.destroy();
  };
}

function destroySoon(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
