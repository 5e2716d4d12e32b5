// Traefik as the reverse proxy: writes its static configuration and the routes of web interfaces to its files.
import path from 'node:path';
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../auth/contract.ts';
import type {} from '../config-files/contract.ts';
import type {} from '../health-probe/contract.ts';
import type {} from '../service-ui/contract.ts';
import type {} from '../setup/contract.ts';
import { endpointHosts } from './endpoint-hosts.ts';
import { type ProxyPlace, routesFile, writeRoutes, writeStatic } from './proxy-files.ts';
import { ENTRY_POINTS, probeWeb, webAddress, webUrl } from './web-address.ts';

const KEY = 'traefik';
const ADMIN_KEY = 'traefik_proxy_admin';

export default definePlugin({
  name: 'service-traefik',
  host: '^1',
  after: ['process', 'services', 'setup'],

  setup(host) {
    const store = host.use('config.store');
    const proxy = () => store.blocks().find(({ configKey }) => configKey === KEY);
    /** The blocks as the supervisor sees them: a service that was started by hand counts as enabled. */
    const blocks = () => host.find('process.supervisor')?.blocks();
    const configDir = (): string => {
      const directory = proxy()?.block.config_dir;
      return typeof directory === 'string' ? directory : path.join(host.paths.configDir, KEY);
    };
    const place = (block: NamedBlock): ProxyPlace => {
      const { config_file: file } = block.block;
      const configFile = typeof file === 'string' ? file : path.join(configDir(), 'traefik.yml');
      const owner = host.use('process.supervisor').userOf(block);
      return { configDir: configDir(), configFile, owner, block, files: host.use('config.files') };
    };

    let told = '';
    const write = async (block: NamedBlock): Promise<void> => {
      const { uis, warnings } = host.find('service.uis')?.published() ?? { uis: [], warnings: [] };
      const warning = warnings.join('; ');
      if (warning !== told && warning !== '') host.log.warn(warning);
      told = warning;
      await writeRoutes(place(block), uis);
    };
    let last: Promise<unknown> = Promise.resolve();
    /** Writes the routes, one write after the other, so that the newest are written last. */
    const publish = (block: NamedBlock): Promise<void> => {
      const run = last.then(() => write(block));
      last = run.catch(() => undefined);
      return run;
    };

    host.provide('service.proxy', {
      configKey: KEY,
      routesFile: () => routesFile({ configDir: configDir() }),
      address: () => webUrl(proxy()?.block),
    });
    host.contribute('process.probe', KEY, {
      blockKey: ENTRY_POINTS,
      check: async block => (block.configKey === KEY ? probeWeb(block) : undefined),
    });
    host.contribute('service.configure', KEY, {
      configKey: KEY,
      async configure({ block }) {
        const admin = (blocks() ?? store.blocks()).find(({ configKey }) => configKey === ADMIN_KEY)?.block;
        const adminUrl =
          admin?.enabled === true ? `http://127.0.0.1:${admin.port}/api/traefik/config?dumb_provider=traefik` : null;
        await writeStatic(place(block), adminUrl);
        await publish(block);
      },
    });
    host.contribute('service.configure', ADMIN_KEY, {
      configKey: ADMIN_KEY,
      async configure({ plan, block, template, store: save }) {
        const env = endpointHosts(block, template, blocks() ?? store.blocks());
        if (env === undefined) return;
        Object.assign(plan.env, env);
        await save({ env });
      },
    });
    host.contribute('process.placeholders', KEY, {
      // The dashboard listens beside the proxy.
      values: () => ({ traefik_dashboard_port: webAddress(proxy()?.block).port + 1 }),
    });
    let routed = blocks();
    const reroute = async (): Promise<void> => {
      routed = blocks();
      const block = proxy();
      if (block === undefined) return;
      const status = host.find('process.supervisor')?.get(block.processName)?.status;
      if (status === 'running' || status === 'starting') await publish(block);
    };
    // The proxy watches its file, so it is not restarted. A failure here does not undo the change of the configuration.
    host.tap('config.changed', reroute);
    host.tap('auth.changed', reroute);
    // A service that is started by hand gets a route. A running proxy that was adopted has the routes of the earlier
    // host.
    host.tap('process.status', ({ configKey, status }) =>
      routed === blocks() && !(configKey === KEY && status === 'running') ? undefined : reroute(),
    );
    // The last write must be over, because the directories may be removed once the host has ended.
    return async () => {
      await last;
    };
  },
});
