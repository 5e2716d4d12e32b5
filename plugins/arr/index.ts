// The applications of the Arr family, for every plugin that sets them up or hands them to another service.
import path from 'node:path';
import { definePlugin } from '#core';
import type {} from '../integrations/contract.ts';
import { Applications, MANAGERS } from './applications.ts';
import { HandedOver } from './handed-over.ts';

export default definePlugin({
  name: 'arr',
  host: '^1',
  after: ['config-files', 'service-templates'],

  setup(host) {
    const handedOver = new HandedOver(path.join(host.paths.configDir, 'handed-over.json'), host.log);
    const applications = new Applications(host, handedOver);
    host.provide('arr.applications', applications);
    const consumers = host.contributions('arr.consumer');
    // A manager makes its key at its first start, which may come after that of those who need it.
    host.contribute('service.integration', 'arr-consumers', {
      get targets() {
        return [...consumers.values()].map(({ configKey }) => configKey);
      },
      providers: MANAGERS,
      async apply(target, told) {
        for (const { configKey, managers } of consumers.values())
          if (configKey === target.configKey) await applications.renew(target, await managers(target), told);
      },
    });
  },
});
