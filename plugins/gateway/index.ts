// The gateway: a second listener for browsers that serves the same routes below `/api`, the streams and a static console.
import { definePlugin, type Host } from '#core';
import { isLoopback } from '#kit/loopback';
import type {} from '../service-ui/contract.ts';
import { EmbeddedUis } from './embedded.ts';
import { createGateway } from './gateway.ts';

export interface GatewayConfig {
  enabled: boolean;
  host: string;
  port: number;
  /** Folder of a console to serve; empty: a page that says where things are. */
  static_dir: string;
}

export default definePlugin({
  name: 'gateway',
  host: '^1',
  after: ['auth'],
  config: z =>
    z.object({
      enabled: z.boolean().default(true),
      host: z.string().min(1).default('127.0.0.1'),
      port: z.int().min(0).max(65_535).default(3005),
      static_dir: z.string().default(''),
    }),

  setup(host, config) {
    if (!config.enabled) return;
    let close: (() => Promise<void>) | undefined;
    host.tap('host.ready', async () => {
      close = await open(host, config);
      if (host.signal.aborted) await close?.();
    });
    return () => close?.();
  },
});

async function open(host: Host, config: GatewayConfig): Promise<(() => Promise<void>) | undefined> {
  if (managedFrontendPort(host) === config.port) {
    host.log.info(`stepping aside: the managed frontend serves port ${config.port}`);
    return undefined;
  }
  if (!isLoopback(config.host) && host.find('access')?.enabled() !== true) {
    host.log.warn(`listening on ${config.host} while authentication is off: everybody who reaches it is in control`);
  }
  const entrance = host.use('http.entrance');
  const embedded = new EmbeddedUis(() => servedUis(host));
  const gateway = createGateway({ entrance, embedded, staticDir: config.static_dir, nativeUrl: nativeUrl(host) });
  try {
    const listener = await entrance.open({ host: config.host, port: config.port, ...gateway });
    host.log.info(`gateway on http://${config.host}:${listener.port}`);
    return async () => {
      await embedded.close();
      await listener.close(1000);
    };
  } catch (error) {
    host.log.warn(`no gateway: ${(error as Error).message}`);
    return undefined;
  }
}

/**
 * The reverse proxy serves them while it runs. Where people must log in, interfaces, which bring their own login or
 * none, are served only when somebody switched them on.
 */
function servedUis(host: Host) {
  const uis = host.find('service.uis');
  if (uis === undefined || uis.proxyRuns()) return [];
  return uis.enabled() || host.find('access')?.enabled() !== true ? uis.list() : [];
}

function managedFrontendPort(host: Host): number | undefined {
  const store = host.find('config.store');
  return store?.get('dumb.frontend.enabled') === true ? Number(store.get('dumb.frontend.port') ?? 3005) : undefined;
}

function nativeUrl(host: Host): string {
  const store = host.find('config.store');
  const address = String(store?.get('dumb.api_service.host') ?? '127.0.0.1');
  const reachable = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${store?.get('dumb.api_service.port') ?? 8000}`;
}
