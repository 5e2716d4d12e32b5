// The standard web frontend as a managed process, configured with the addresses of the API and the reverse proxy.
import { definePlugin } from '#core';
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
    host.tap('process.prepare', plan => {
      if (plan.configKey !== KEY) return plan;
      const facts = frontendFacts.parse(host.find('service.templates')?.get(KEY)?.facts ?? {});
      addEnvironment(plan, facts, host.use('config.store'), host.find('service.proxy')?.address());
      return plan;
    });
  },
});
