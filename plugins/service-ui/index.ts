// Web interfaces of the services behind one address: which there are, the switch, and the routes of the reverse proxy.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../config-files/contract.ts';
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
    const configDir = (): string => {
      const directory = proxy()?.block.config_dir;
      return typeof directory === 'string' ? directory : path.join(host.paths.configDir, 'traefik');
    };
    const place = (block: NamedBlock): ProxyPlace => {
      const { config_file: file } = block.block;
      const configFile = typeof file === 'string' ? file : path.join(configDir(), 'traefik.yml');
      const { puid, pgid } = store.root();
      const owner = process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null;
      return { configDir: configDir(), configFile, owner, block, files: host.use('config.files') };
    };
    const list = () => {
      const file = routesFile({ configDir: configDir() });
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
        await writeStatic(place(block), adminUrl);
        await writeRoutes(place(block), uis());
      },
    });
    // The proxy watches its file. A fault here does not take the change back.
    host.tap('config.changed', async () => {
      const block = proxy();
      if (block !== undefined && enabled() && host.find('service.uis')?.proxyRuns() === true)
        await writeRoutes(place(block), uis());
    });

    host.route({
      method: 'GET',
      path: '/config/service-ui-map',
      summary: 'The type of service behind each route name',
      response: z.record(z.string(), z.string()),
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
