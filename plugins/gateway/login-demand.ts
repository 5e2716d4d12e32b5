// Whether callers must log in, also while no plugin checks them: interfaces without a login of their own rest on it.
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

  /** As of the request that `asked` hands over. */
  get required(): boolean {
    return this.#required;
  }

  /** Serves as `gateway` does, once it is known of each request whether it may be served without a login. */
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
