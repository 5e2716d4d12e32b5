// What the gateway does with a request: interfaces of services go to their ports, `/api` and `/ws` to the entrance in
// process, the rest is the console.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpEntrance } from '#core';
import { createConsole } from './console.ts';
import type { EmbeddedUis } from './embedded.ts';
import { refuse, refuseUpgrade } from './refusal.ts';

export interface GatewayOptions {
  readonly entrance: Pick<HttpEntrance, 'handle' | 'upgrade' | 'allowsOrigin'>;
  readonly embedded: Pick<EmbeddedUis, 'request' | 'upgrade'>;
  readonly staticDir: string;
  /** Address of the native listener, for people. */
  readonly nativeUrl: string;
}

export interface Gateway {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

const via = { native: false, prefix: '/api' } as const;
const foreignOrigin = 'Requests of pages from another origin are not accepted; allow it in dumb.frontend.origins';

export function createGateway({ entrance, embedded, staticDir, nativeUrl }: GatewayOptions): Gateway {
  const serveConsole = createConsole({ staticDir, nativeUrl });

  /** A browser names the origin of the page that acts; it must be the one that this listener serves. */
  function isForeign({ headers: { origin, host } }: IncomingMessage): boolean {
    return origin !== undefined && hostOf(origin) !== host?.toLowerCase() && !entrance.allowsOrigin(origin);
  }

  return {
    request(request, response) {
      response.setHeader('X-Robots-Tag', 'noindex, nofollow');
      const isSafe = ['GET', 'HEAD', 'OPTIONS'].includes(request.method ?? '');
      if (!isSafe && isForeign(request)) refuse(response, 403, foreignOrigin);
      else if (embedded.request(request, response)) return;
      else if (/^\/api(?:[/?]|$)/.test(request.url ?? '')) entrance.handle(request, response, via);
      else if (isSafe) void serveConsole(request, response);
      else refuse(response, 404, 'Not found');
    },
    upgrade(request, socket, head) {
      const isOwn = /^\/ws\/(?:logs|status|metrics)(?:[/?]|$)/.test(request.url ?? '');
      if (isForeign(request)) refuseUpgrade(socket, 403, foreignOrigin);
      else if (!isOwn && embedded.upgrade(request, socket, head)) return;
      else if (request.url?.startsWith('/ws/')) entrance.upgrade(request, socket, head);
      else refuseUpgrade(socket, 404, 'Not found');
    },
  };
}

/** Undefined for the opaque origin `null` and for anything else that is no URL. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
