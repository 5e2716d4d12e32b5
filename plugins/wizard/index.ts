// Onboarding of services: lists what can be chosen, and starts a selection together with everything that it needs.
import { definePlugin, Problem } from '#core';
import type {} from '../services/contract.ts';
import type {} from './contract.ts';
import { Offers } from './offers.ts';
import { componentPoint, prerequisitePoint } from './points.ts';
import { startServices } from './start.ts';
import * as wire from './wire.ts';

/** Long enough for programs that are built before their first start. */
const START_DEADLINE_MS = 10_800_000;

export default definePlugin({
  name: 'wizard',
  host: '^1',
  needs: ['process', 'services'],
  after: ['setup'],

  setup(host) {
    host.point('wizard.component', componentPoint);
    host.point('wizard.prerequisite', prerequisitePoint);
    const store = host.use('config.store');
    const offers = () => new Offers(store, host.use('service.templates'));
    let busy = false;

    host.route({
      method: 'GET',
      path: '/process/core-services',
      summary: 'Core services that onboarding offers, with their options',
      response: wire.coreServicesAnswer,
      handle: () => ({ core_services: offers().coreServices() }),
    });

    host.route({
      method: 'GET',
      path: '/process/optional-services',
      summary: 'Optional services that onboarding offers, with their options',
      query: wire.optionalQuery,
      response: wire.optionalServicesAnswer,
      handle: ({ query }) => ({
        optional_services: offers().optionalServices(query.core_service, query.optional_services ?? []),
      }),
    });

    host.route({
      method: 'POST',
      path: '/process/start-core-service',
      summary: 'Configures and starts core and optional services with everything they need',
      capability: ['optional_only_onboarding', 'optional_service_options'],
      deadlineMs: START_DEADLINE_MS,
      body: wire.startBody,
      response: wire.startAnswer,
      async handle({ body, identity }) {
        if (busy) throw new Problem(409, 'Another onboarding start is in progress; wait until it is done');
        busy = true;
        try {
          return await startServices(host, body, identity.username);
        } finally {
          busy = false;
        }
      },
    });
  },
});
