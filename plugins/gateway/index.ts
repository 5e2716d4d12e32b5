// The gateway: a second listener for browsers, with the same routes below `/api`, the streams and a static console.
import path from 'node:path';
import { definePlugin, type Host } from '#core';
import { isHostState } from '#kit/host-state';
import { isLoopback } from '#kit/loopback';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';
import type {} from '../service-ui/contract.ts';
import { EmbeddedUis } from './embedded-uis.ts';
import { createGateway } from './gateway.ts';

export interface GatewayConfig {
  enabled: boolean;
  host: string;
  port: number;
  /** Folder of a console to serve; when it is empty, a landing page is served instead. */
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
      close = await openGateway(host, config);
      if (host.signal.aborted) await close?.();
    });
    return () => close?.();
  },
});

async function openGateway(host: Host, config: GatewayConfig): Promise<(() => Promise<void>) | undefined> {
  if (findManagedFrontendPort(host) === config.port) {
    host.log.info(`stepping aside: the managed frontend serves port ${config.port}`);
    return undefined;
  }
  if (!isLoopback(config.host) && host.find('access')?.enabled() !== true) {
    host.log.warn(`listening on ${config.host} while authentication is off: everybody who reaches it is in control`);
  }
  const entrance = host.use('http.entrance');
  const embedded = new EmbeddedUis(
    () => listServedUis(host),
    authorization => host.find('access')?.issued?.(authorization) === true,
  );
  const refusal = await refusalOf(host);
  if (config.static_dir !== '') {
    const reason = refusal(await realPlaceOf(path.resolve(config.static_dir)));
    if (reason !== null) host.log.error(`dumb.gateway.static_dir is not served: ${reason}; name the console's folder`);
  }
  const gateway = createGateway({
    entrance,
    embedded,
    staticDir: config.static_dir,
    refusal,
    nativeUrl: buildNativeUrl(host),
  });
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

/** Refuses folders that hold state of the host, lie in it, or belong to the system. All paths are real ones. */
async function refusalOf(host: Host): Promise<(folder: string) => string | null> {
  const configDir = await realPlaceOf(host.paths.configDir);
  const logDir = await realPlaceOf(host.paths.logDir);
  const isIn = (place: string, folder: string): boolean => place === folder || place.startsWith(`${folder}/`);
  return folder => {
    if (folder === '/' || [configDir, logDir].some(place => isIn(place, folder)))
      return `${folder} holds the state of Stackwarden itself`;
    if (isHostState(folder, configDir) || isIn(folder, logDir))
      return `${folder} lies in the state of Stackwarden itself`;
    const isOfSystem = isSystemPath(folder) && ![configDir, '/usr'].some(place => isIn(folder, place));
    return isOfSystem ? `${folder} belongs to the system` : null;
  };
}

/**
 * The web interfaces that the gateway serves: none while the reverse proxy serves them. Interfaces have a login of
 * their own or none, so where authentication is on they are served only after somebody has switched them on.
 */
function listServedUis(host: Host) {
  const uis = host.find('service.uis');
  if (uis === undefined || uis.proxyRuns()) return [];
  return uis.enabled() || host.find('access')?.enabled() !== true ? uis.list() : [];
}

function findManagedFrontendPort(host: Host): number | undefined {
  const store = host.find('config.store');
  return store?.get('dumb.frontend.enabled') === true ? Number(store.get('dumb.frontend.port') ?? 3005) : undefined;
}

function buildNativeUrl(host: Host): string {
  const store = host.find('config.store');
  const address = String(store?.get('dumb.api_service.host') ?? '127.0.0.1');
  const reachable = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${store?.get('dumb.api_service.port') ?? 8000}`;
}
