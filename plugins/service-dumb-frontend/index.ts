// The standard web frontend as a managed process, configured with the addresses of the API and of web interfaces.
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
    // The entrance is preferred to a reverse proxy: its address stays the same when a proxy is added or removed later.
    const uiAddress = async () =>
      (await host.find('service.ui-entrance')?.address()) ?? host.find('service.proxy')?.address();
    host.tap('process.prepare', async plan => {
      if (plan.configKey !== KEY) return plan;
      const facts = frontendFacts.parse(host.find('service.templates')?.get(KEY)?.facts ?? {});
      addEnvironment(plan, facts, host.use('config.store'), await uiAddress());
      return plan;
    });
    // A frontend that an earlier host started still uses the address that it was given, so the listener must be opened.
    host.tap('process.status', async ({ configKey, status, adopted }) => {
      if (configKey === KEY && adopted && status === 'running') await uiAddress();
    });
  },
});
