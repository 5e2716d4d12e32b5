// Tells whether callers must log in, even while no plugin checks them; interfaces without a login of their own are
// served accordingly.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Host } from '#core';
import type { Gateway } from './gateway.ts';

export class LoginDemand {
  readonly #host: Pick<Host, 'find' | 'use'>;
  #required = true;

  constructor(host: Pick<Host, 'find' | 'use'>) {
    this.#host = host;
  }

  /** Whether callers must log in, as of the request that `asked` passes on at this moment. */
  get required(): boolean {
    return this.#required;
  }

  /** Passes each request on to `gateway` as soon as `required` is up to date. */
  asked(gateway: Gateway): Gateway {
    return {
      request: (request: IncomingMessage, response: ServerResponse) =>
        this.#whenKnown(() => gateway.request(request, response)),
      upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) =>
        this.#whenKnown(() => gateway.upgrade(request, socket, head)),
    };
  }

  #whenKnown(serve: () => void): void | Promise<void> {
    const access = this.#host.find('access');
    if (access === undefined) return this.#askHost(serve);
    this.#required = access.enabled();
    serve();
  }

  async #askHost(serve: () => void): Promise<void> {
    this.#required = await this.#host.use('http.entrance').mustLogIn();
    serve();
  }
}
