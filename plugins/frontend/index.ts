// The web frontend that may run as a managed process: its entry, its preferences, and how it finds this service.
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import { addFrontendEnvironment } from './environment.ts';
import { frontendSection, preferencesSection } from './settings.ts';

export default definePlugin({
  name: 'frontend',
  host: '^1',

  setup(host) {
    host.contribute('config.schema', 'frontend', { path: ['dumb', 'frontend'], schema: frontendSection });
    host.contribute('config.schema', 'frontend-preferences', { path: ['dumb', 'ui'], schema: preferencesSection });
    host.tap('process.prepare', plan => addFrontendEnvironment(plan, host.use('config.store')));
  },
});
