// Web interfaces of the services behind one address: which there are, the switch, and the routes of the reverse proxy.
import path from 'node:path';
import { definePlugin } from '#core';
import type {} from '../service-setup/contract.ts';
import type {} from '../service-templates/contract.ts';
import { ProxySwitch } from './proxy-switch.ts';
import { type ProxyPlace, routesFile, writeRoutes, writeStatic } from './traefik-files.ts';
import { listUis } from './ui-list.ts';
import * as wire from './wire.ts';

export default definePlugin({
  name: 'service-ui',
  host: '^1',
  after: ['process', 'service-templates', 'service-setup'],

  setup(host) {
    const store = host.use('config.store');
    const uis = () => listUis(store, host.find('service.templates'));
    const enabled = () => store.get('traefik.enabled') === true;
    const proxy = () => store.blocks().find(({ configKey }) => configKey === 'traefik');
    const place = (): ProxyPlace => {
      const block = proxy()?.block;
      const configDir =
        typeof block?.config_dir === 'string' ? block.config_dir : path.join(host.paths.configDir, 'traefik');
      const configFile =
        typeof block?.config_file === 'string' ? block.config_file : path.join(configDir, 'traefik.yml');
      const { puid, pgid } = store.root();
      const owner = process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null;
      return { configDir, configFile, owner };
    };
    const list = () => {
      const file = routesFile(place());
      return { enabled: enabled(), services: uis().map(wire.entryToWire), proxy_config: file, traefik_config: file };
    };

    host.provide('service.uis', {
      list: uis,
      enabled,
      proxyRuns: () => host.find('process.supervisor')?.get(proxy()?.processName ?? '')?.status === 'running',
    });
    const toggle = new ProxySwitch(host);

    host.contribute('service.configure', 'traefik', {
      configKey: 'traefik',
      async configure({ block }) {
        const admin = store.blocks().find(({ configKey }) => configKey === 'traefik_proxy_admin')?.block;
        const adminUrl =
          admin?.enabled === true ? `http://127.0.0.1:${admin.port}/api/traefik/config?dumb_provider=traefik` : null;
        await writeStatic(place(), block.block, adminUrl);
        await writeRoutes(place(), uis());
      },
    });
    // The proxy watches its file. A fault here does not take the change back.
    host.tap('config.changed', async () => {
      if (enabled() && host.find('service.uis')?.proxyRuns() === true) await writeRoutes(place(), uis());
    });

    host.route({
      method: 'GET',
      path: '/config/service-ui-map',
      summary: 'The type of service behind each route name',
      handle: () => Object.fromEntries(uis().map(({ name, kind }) => [name, kind])),
    });

    host.route({
      method: 'GET',
      path: '/config/service-ui',
      summary: 'The web interfaces of the enabled services',
      response: wire.listAnswer,
      handle: () => list(),
    });

    host.route({
      method: 'POST',
      path: '/config/service-ui',
      summary: 'Switches embedded web interfaces on or off',
      body: wire.switchBody,
      response: wire.switchAnswer,
      async handle({ body, identity }) {
        const state = await toggle.set(body.enabled, identity.username ?? 'api');
        return { ...list(), ...state };
      },
    });
  },
});
