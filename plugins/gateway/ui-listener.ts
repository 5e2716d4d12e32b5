// The listener behind a web frontend that runs as a process of its own: it serves the web interfaces of services below
// `/service/ui/`, as the reverse proxy does, and nothing else.
import type { Host, HttpEntrance, Listener } from '#core';
import { refuse, refuseSocket } from '#kit/refusal';
import type { EmbeddedUis } from './embedded-uis.ts';
import type { LoginDemand } from './login-demand.ts';

const LOOPBACK = '127.0.0.1';
const END_GRACE_MS = 1_000;

export interface UiListenerOptions {
  readonly host: Host;
  readonly entrance: Pick<HttpEntrance, 'open'>;
  readonly uis: EmbeddedUis;
  readonly logins: LoginDemand;
  /** The same at each start, because a frontend that outlives this host goes on asking there. */
  readonly port: number;
}

export class UiListener {
  readonly #options: UiListenerOptions;
  #listener: Promise<Listener> | undefined;

  constructor(options: UiListenerOptions) {
    this.#options = options;
  }

  async address(): Promise<string> {
    this.#listener ??= this.#open();
    try {
      return `http://${LOOPBACK}:${(await this.#listener).port}`;
    } catch (error) {
      this.#listener = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    const listener = await this.#listener?.catch(() => undefined);
    this.#options.uis.close();
    await listener?.close(END_GRACE_MS);
  }

  async #open(): Promise<Listener> {
    const { host, port } = this.#options;
    try {
      return await this.#openOn(port);
    } catch (error) {
      host.log.warn(`web interfaces get another port; name a free one in dumb.gateway.ui_port`, error);
      return this.#openOn(0);
    }
  }

  #openOn(port: number): Promise<Listener> {
    const { entrance, uis, logins } = this.#options;
    const serving = logins.asked({
      request(request, response) {
        if (!uis.handleRequest(request, response)) refuse(response, 404, 'Not found');
      },
      upgrade(request, socket, head) {
        if (!uis.handleUpgrade(request, socket, head)) refuseSocket(socket, 404, 'Not found');
      },
    });
    return entrance.open({ host: LOOPBACK, port, ...serving });
  }
}
