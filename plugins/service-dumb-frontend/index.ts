// The standard web frontend as a managed process, configured with the addresses of the API and the reverse proxy.
import { definePlugin } from '#core';
import type {} from '../gateway/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../service-ui/contract.ts';
import type {} from '../services/contract.ts';
import { addEnvironment, frontendFacts } from './environment.ts';
import { frontendSection, preferencesSection } from './settings.ts';

const KEY = 'dumb_frontend';

export default definePlugin({
  name: 'service-dumb-frontend',
  host: '^1',
  after: ['process', 'services'],

  setup(host) {
    host.contribute('config.schema', 'frontend', { path: ['dumb', 'frontend'], schema: frontendSection });
    host.contribute('config.schema', 'frontend-preferences', { path: ['dumb', 'ui'], schema: preferencesSection });
    // One address with and without a reverse proxy, so that one that comes or goes later changes nothing for it.
    const uiAddress = async () =>
      (await host.find('service.ui-entrance')?.address()) ?? host.find('service.proxy')?.address();
    host.tap('process.prepare', async plan => {
      if (plan.configKey !== KEY) return plan;
      const facts = frontendFacts.parse(host.find('service.templates')?.get(KEY)?.facts ?? {});
      addEnvironment(plan, facts, host.use('config.store'), await uiAddress());
      return plan;
    });
    // One that an earlier host started asks at the address that it was given then.
    host.tap('process.status', async ({ configKey, status, adopted }) => {
      if (configKey === KEY && adopted && status === 'running') await uiAddress();
    });
  },
});
