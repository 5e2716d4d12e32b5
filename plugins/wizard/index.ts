// Onboarding of services: lists what can be chosen, and starts a selection together with everything that it needs.
import { definePlugin, type Host, Problem } from '#core';
import type {} from '../dependency-graph/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../setup/contract.ts';
import { untilBooted } from './boot-wait.ts';
import { builtInComponents } from './built-in.ts';
import type { Candidate, CandidateContext } from './candidate.ts';
import type {} from './contract.ts';
import { feasibleCandidate } from './feasible.ts';
import { Offers } from './offers.ts';
import { componentPoint, prerequisitePoint } from './points.ts';
import { select } from './selection.ts';
import { Starter } from './starter.ts';
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
          return await startServices(host, body, identity.username ?? 'api');
        } finally {
          busy = false;
        }
      },
    });
  },
});

async function startServices(host: Host, body: wire.StartRequest, actor: string) {
  const store = host.use('config.store');
  const templates = host.use('service.templates');
  const supervisor = host.use('process.supervisor');
  const selection = select(body, templates, store);
  const context: CandidateContext = {
    root: store.root(),
    templates,
    log: host.log,
    parts: host.contributions('wizard.component'),
    prerequisites: host.contributions('wizard.prerequisite'),
    builtIn: await builtInComponents(templates, store),
  };
  const check = (updates: Candidate['updates']) => store.update({ updates, persist: true, trial: true, actor });
  const setups = host.find('service.setup');
  const { updates, units, refusals } = await feasibleCandidate(selection, context, setups, check);
  await save(host, updates, actor);
  if (units.length > 0) await untilBooted(supervisor, host);
  // The configuration is saved by now, so the services are started even when no order is available.
  const order = await host
    .find('dependency.graph')
    ?.startOrder()
    .catch((error: unknown) => host.log.error('the dependency graph cannot be asked for the order of starting', error));
  const starter = new Starter(supervisor, () => host.find('installs'), order?.needs ?? new Map());
  const { results, errors } = await starter.run(units);
  const all = [...refusals, ...errors];
  if (results.length > 0 || all.length === 0) return { results, errors: all };
  const detail = `None of the services could be started: ${all.map(({ error }) => error).join('; ')}`;
  throw new Problem(500, detail, { extra: { results, errors: all } });
}

/** Validates and writes all updates at once; nothing changes when they are invalid. */
async function save(host: Host, updates: Readonly<Record<string, unknown>>, actor: string): Promise<void> {
  if (Object.keys(updates).length === 0) return;
  try {
    await host.use('config.store').update({ updates, persist: true, actor });
  } catch (error) {
    if (error instanceof Problem && error.status < 500) throw error;
    throw new Problem(500, 'Failed to save configuration', { cause: error });
  }
}
