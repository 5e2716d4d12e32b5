// The start of a selection: all its changes of the configuration are saved at once, then its processes are started in
// order.
import { type Host, Problem } from '#core';
import type {} from '../dependency-graph/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../setup/contract.ts';
import { untilBooted } from './boot-wait.ts';
import { builtInComponents } from './built-in.ts';
import type { Candidate, CandidateContext } from './candidate.ts';
import type {} from './contract.ts';
import { type FeasibleCandidate, feasibleCandidate } from './feasible.ts';
import { select, strayKeys } from './selection.ts';
import { Starter } from './starter.ts';
import type { StartAnswer, StartRequest } from './wire.ts';

/** What the client is told about the save of the configuration. */
type Told = Pick<StartAnswer, 'overridden' | 'warnings'>;

const ANONYMOUS_USER = 'user';
const MAX_WARNINGS = 50;
const SHUTTING_DOWN = 'The service is shutting down; what was chosen is saved, and starts when it is started again';

/**
 * `username` is null while authentication is off. Throws a Problem when the selection is refused (400), when no service
 * could be started or the configuration could not be written (500), or at a shutdown (503).
 */
export async function startServices(host: Host, body: StartRequest, username: string | null) {
  const actor = username ?? 'api';
  const store = host.use('config.store');
  const templates = host.use('service.templates');
  const supervisor = host.use('process.supervisor');
  const selection = select(body, templates, store);
  const warn = warnerOf(host.log);
  for (const key of strayKeys(selection, body, templates, store))
    warn(`options were sent for ${key}, which is no service and no instance; they are ignored`);
  const context: CandidateContext = {
    root: store.root(),
    templates,
    warn,
    parts: host.contributions('wizard.component'),
    prerequisites: host.contributions('wizard.prerequisite'),
    builtIn: await builtInComponents(templates, store),
  };
  const check = (updates: Candidate['updates']) => store.update({ updates, persist: true, trial: true, actor });
  const setups = host.find('service.setup');
  const candidate = await feasibleCandidate(selection, context, setups, check);
  const { units, refusals } = candidate;
  const saved = await save(host, candidate, { root: context.root, actor });
  if (units.length > 0) await untilBooted(supervisor, host);
  refuseWhenStopping(host);
  // The configuration is saved by now, so the services are started even when no order is available.
  const order = await host
    .find('dependency.graph')
    ?.startOrder()
    .catch((error: unknown) => host.log.error('the dependency graph cannot be asked for the order of starting', error));
  const needs = order?.needs ?? new Map();
  const starter = new Starter(supervisor, () => host.find('installs'), needs, username ?? ANONYMOUS_USER);
  const { results, errors } = await starter.run(units);
  refuseWhenStopping(host);
  const all = [...refusals, ...errors];
  if (results.length > 0 || all.length === 0) return { results, errors: all, ...saved };
  const detail = `None of the services could be started: ${all.map(({ error }) => error).join('; ')}`;
  throw new Problem(500, detail, { extra: { results, errors: all, ...saved } });
}

/**
 * Tells each ignored option once, because the selection is worked out again each time a service is left out, and no
 * more of them than one request should write into the log.
 */
function warnerOf(log: Host['log']): (line: string) => void {
  const told = new Set<string>();
  return line => {
    if (told.has(line) || told.size > MAX_WARNINGS) return;
    told.add(line);
    log.warn(told.size > MAX_WARNINGS ? 'further options are ignored, and not told' : line);
  };
}

function refuseWhenStopping({ stopping }: Host): void {
  if (stopping !== null) throw new Problem(503, SHUTTING_DOWN);
}

/**
 * Validates and writes all updates at once; nothing changes when they are invalid. They are made anew when the
 * configuration is not `root` any more, because lists in them are saved whole and would undo changes made meanwhile.
 */
async function save(
  host: Host,
  candidate: FeasibleCandidate,
  { root, actor }: { readonly root: CandidateContext['root']; readonly actor: string },
): Promise<Told> {
  if (Object.keys(candidate.updates).length === 0) return { overridden: [], warnings: [] };
  const store = host.use('config.store');
  const updates = () => (store.root() === root ? candidate.updates : candidate.updatesFor(store.root()));
  try {
    const { overridden, warnings } = await store.update({ updates, persist: true, actor });
    return { overridden: [...overridden], warnings: [...warnings] };
  } catch (error) {
    if (error instanceof Problem && error.status < 500) throw error;
    throw new Problem(500, 'Failed to save configuration', { cause: error });
  }
}
