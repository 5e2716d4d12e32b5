// Web interfaces of services behind one address: their list, and the switch that embeds them.
import { z } from 'zod';
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import { tellPortWords } from './port-words.ts';
import { ProxySwitch } from './proxy-switch.ts';
import { publishedUis } from './published-uis.ts';
import { embeddingSection, uiBlock } from './settings.ts';
import { listUis } from './ui-list.ts';
import * as wire from './wire.ts';

export default definePlugin({
  name: 'service-ui',
  host: '^1',
  after: ['process', 'services'],

  setup(host) {
    host.contribute('config.schema', 'embedding', { path: ['dumb', 'service_ui'], schema: embeddingSection });
    host.contribute('config.block', 'ui', { schema: uiBlock });
    const store = host.use('config.store');
    const blocks = () => host.find('process.supervisor')?.blocks() ?? store.blocks();
    const uis = () => listUis(blocks(), host.find('service.templates'));
    const proxyKey = () => host.find('service.proxy')?.configKey;
    const enabled = () => {
      const key = proxyKey();
      return (
        store.get('dumb.service_ui.enabled') === true || (key !== undefined && store.get([key, 'enabled']) === true)
      );
    };
    const published = () => publishedUis(uis(), host.find('access')?.enabled() === true);
    const list = () => {
      const file = host.find('service.proxy')?.routesFile() ?? '';
      return { enabled: enabled(), services: uis().map(wire.entryToWire), proxy_config: file, traefik_config: file };
    };

    tellPortWords(host);
    host.provide('service.uis', { list: uis, published, enabled });
    const toggle = new ProxySwitch(host);

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
        const { overridden, warnings, ...state } = await toggle.set(body.enabled, identity.username ?? 'api');
        const withheld = state.proxy_state === 'stopped' ? [] : published().warnings;
        return { ...list(), ...state, overridden: [...overridden], warnings: [...warnings, ...withheld] };
      },
    });
  },
});
