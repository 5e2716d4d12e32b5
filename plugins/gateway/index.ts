// The gateway: a second listener for browsers, with the same routes below `/api`, the streams and the files of a web
// frontend; and a listener for a web frontend that runs as a process of its own.
import { definePlugin, type Host } from '#core';
import { isLoopback } from '#kit/loopback';
import type {} from '../console/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../service-ui/contract.ts';
import { nativeUrl, tellSharedPort } from './api-address.ts';
import type {} from './contract.ts';
import { EmbeddedUis } from './embedded-uis.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { GatewayPort } from './gateway-port.ts';
import { LoginDemand } from './login-demand.ts';
import { faultOfFolder, refusalOf } from './served-folder.ts';
import { trustedProxies } from './trusted-proxies.ts';
import { UiListener } from './ui-listener.ts';

export default definePlugin({
  name: 'gateway',
  host: '^1',
  after: ['auth'],
  config: z =>
    z.object({
      enabled: z.boolean().default(true).describe('whether the API is served for browsers below /api, too'),
      host: z.string().min(1).default('127.0.0.1').describe('address to listen on; 0.0.0.0 means all'),
      port: z.int().min(0).max(65_535).default(3005).describe('port to listen on'),
      static_dir: z
        .string()
        .default('')
        .meta({ needsLogin: true })
        .describe('folder of a web frontend that is served at /'),
      ui_port: z
        .int()
        .min(0)
        .max(65_535)
        .default(18_079)
        .describe('loopback port at which a managed frontend asks for the web interfaces of services'),
    }),

  setup(host, config) {
    const entrance = host.use('http.entrance');
    const logins = new LoginDemand(host);
    /** Some interfaces have no login of their own: where users must log in, one of them must switch these on first. */
    const areOff = (): boolean => logins.required && host.find('service.uis')?.enabled() === false;
    const uiOptions = {
      listUis: () => (areOff() ? [] : (host.find('service.uis')?.list() ?? [])),
      areOff,
      isStopped: (name: string) => host.find('process.supervisor')?.get(name)?.status === 'stopped',
      isTrustedProxy: trustedProxies(host),
      allowCut: entrance.allowCut,
      isOwnCredential: (authorization: string) => host.find('access')?.issued?.(authorization) === true,
    };
    const uis = new EmbeddedUis({ ...uiOptions, behindFrontend: true });
    const uiListener = new UiListener({ host, entrance, uis, logins, port: config.ui_port });
    host.provide('service.ui-entrance', { address: () => uiListener.address() });
    if (!config.enabled) return () => uiListener.close();

    tellSharedPort(host);
    host.tap('config.review', async ({ problems }) => {
      problems.push(
        ...[await faultOfFolder(config.static_dir, await refusalOf(host))].filter(fault => fault !== undefined),
      );
    });
    const embedded = new EmbeddedUis({ ...uiOptions, entrance });
    let gateway: Promise<Gateway> | undefined;
    const port = new GatewayPort({
      host,
      address: config.host,
      port: config.port,
      async open(address) {
        gateway ??= prepareGateway(host, config.static_dir, embedded, () => port.awaited());
        const listener = await entrance.open({ host: address, port: config.port, ...logins.asked(await gateway) });
        if (!isLoopback(address) && host.find('access')?.enabled() !== true)
          host.log.warn(`listening on ${address} while authentication is off: everybody who reaches it is in control`);
        return listener;
      },
    });
    host.tap('host.ready', () => port.take());
    return async () => {
      embedded.close();
      await Promise.all([port.close(), uiListener.close()]);
    };
  },
});

/**
 * Creates the gateway. When the static folder cannot be served, that is logged, and the gateway's own page is served.
 */
async function prepareGateway(
  host: Host,
  staticDir: string,
  embedded: EmbeddedUis,
  awaited: () => string | undefined,
): Promise<Gateway> {
  const refusal = await refusalOf(host);
  const fault = await faultOfFolder(staticDir, refusal);
  if (fault !== undefined) host.log.error(fault);
  return createGateway({
    entrance: host.use('http.entrance'),
    embedded,
    staticDir,
    refusal,
    nativeUrl: nativeUrl(host),
    awaited,
    consolePage: () => host.find('console.page'),
  });
}
