// The start of a selection: everything that it needs is saved at once, before the first service is started.
import { type Host, Problem } from '#core';
import type {} from '../dependency-graph/contract.ts';
import type {} from '../installs/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../setup/contract.ts';
import { untilBooted } from './boot-wait.ts';
import { builtInComponents } from './built-in.ts';
import type { Candidate, CandidateContext } from './candidate.ts';
import { feasibleCandidate } from './feasible.ts';
import { select } from './selection.ts';
import { Starter } from './starter.ts';
import type { StartRequest } from './wire.ts';

export async function startServices(host: Host, body: StartRequest, actor: string) {
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
