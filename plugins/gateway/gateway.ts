// Dispatches requests: web interfaces to their services, `/api` and `/ws` to the host, everything else to the
// frontend's files.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpEntrance } from '#core';
import { refuse, refuseSocket } from '#kit/refusal';
import type { ConsolePage } from '../console/contract.ts';
import type { EmbeddedUis } from './embedded-uis.ts';
import { createFrontendFiles } from './frontend-files.ts';

export interface GatewayOptions {
  readonly entrance: Pick<HttpEntrance, 'handle' | 'upgrade' | 'isStream' | 'allowsOrigin' | 'allowCut'>;
  readonly embedded: Pick<EmbeddedUis, 'handleRequest' | 'handleUpgrade'>;
  /** Folder of a frontend; when it is empty, a landing page is served instead. */
  readonly staticDir: string;
  /** Why the folder with this real path may not be served; null if it may. */
  readonly refusal: (folder: string) => string | null;
  /** Address of the native listener, linked on the landing page. */
  readonly nativeUrl: string;
  /** Name of the frontend that should serve this port but is not running; undefined when there is none. */
  readonly awaited?: (() => string | undefined) | undefined;
  /** The console, which is served at `/` when there is no frontend; undefined when no plugin provides it. */
  readonly consolePage?: (() => ConsolePage | undefined) | undefined;
}

export interface Gateway {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

const VIA_GATEWAY = { native: false, prefix: '/api' } as const;
/** The host's own streams: they are never forwarded to an interface, even while their plugin is loaded anew. */
const OWN_STREAMS = /^\/ws\/(?:logs|status|metrics)(?:[/?]|$)/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': ':80', 'https:': ':443' };
const FOREIGN_ORIGIN = 'Requests of pages from another origin are not accepted; allow it in dumb.frontend.origins';

export function createGateway({ entrance, embedded, ...options }: GatewayOptions): Gateway {
  const serveFrontend = createFrontendFiles({ ...options, allowCut: entrance.allowCut });

  /**
   * Whether a page of another origin sends the request. Browsers name the origin, which must be this listener's own or
   * an allowed one, so that a foreign page cannot act with a user's rights.
   */
  function isForeign({ headers: { origin, host } }: IncomingMessage): boolean {
    return origin !== undefined && !namesHost(origin, host?.toLowerCase()) && !entrance.allowsOrigin(origin);
  }

  return {
    request(request, response) {
      response.setHeader('X-Robots-Tag', 'noindex, nofollow');
      const isSafe = ['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? '');
      if (!isSafe && isForeign(request)) refuse(response, 403, FOREIGN_ORIGIN);
      else if (embedded.handleRequest(request, response)) return;
      else if (/^\/api(?:[/?]|$)/.test(request.url ?? '')) entrance.handle(request, response, VIA_GATEWAY);
      else if (isSafe) void serveFrontend(request, response);
      else refuse(response, 404, 'Not found');
    },
    upgrade(request, socket, head) {
      const isHostStream = OWN_STREAMS.test(request.url ?? '') || entrance.isStream(request.url ?? '');
      if (isForeign(request)) refuseSocket(socket, 403, FOREIGN_ORIGIN);
      else if (!isHostStream && embedded.handleUpgrade(request, socket, head)) return;
      else if (request.url?.startsWith('/ws/')) entrance.upgrade(request, socket, head);
      else refuseSocket(socket, 404, 'Not found');
    },
  };
}

/**
 * Whether an origin has this host and port. Proxies may send the port of the scheme in `Host`, which no origin names.
 * False for the opaque origin `null`, and for anything else that is no URL.
 */
function namesHost(origin: string, host: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const { host: named, protocol, port } = new URL(origin);
  return host === named || (port === '' && host === named + DEFAULT_PORTS[protocol]);
}
