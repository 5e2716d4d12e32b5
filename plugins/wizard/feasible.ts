// Leaves out of a selection the services that could not be started, before anything of it is saved.
import type { Problem } from '#core';
import type { ServiceSetups } from '../setup/contract.ts';
import { type Candidate, type CandidateContext, createCandidate, type Refusal, type Unit } from './candidate.ts';
import type { Selection } from './selection.ts';

export interface FeasibleCandidate extends Candidate {
  /** The updates of the same services for a configuration that was changed since. */
  updatesFor(root: CandidateContext['root']): Candidate['updates'];
}

/**
 * The selection without services that could not be set up. Without the plugin that sets services up, all count as
 * feasible. Before the first service is left out, `check` gets the updates of the whole selection and may throw, so
 * that wrong options are reported before missing programs.
 */
export async function feasibleCandidate(
  selection: Selection,
  context: CandidateContext,
  setups: ServiceSetups | undefined,
  check: (updates: Candidate['updates']) => Promise<unknown>,
): Promise<FeasibleCandidate> {
  const refusals: Refusal[] = [];
  const unwanted = new Set<string>();
  let { cores, optionals } = selection;
  for (;;) {
    const candidate = createCandidate({ cores, optionals }, context, unwanted);
    const infeasible = await refusedUnits(candidate, setups);
    const ofChosen = infeasible.filter(([{ chosen }]) => chosen !== null);
    // Services that were not chosen are refused later: without the chosen ones they may no longer be wanted.
    const refused = ofChosen.length > 0 ? ofChosen : infeasible;
    if (refused.length > 0 && refusals.length === 0) await check(candidate.updates);
    refusals.push(...refused.map(([, refusal]) => refusal));
    if (refused.length === 0) {
      const kept = { cores, optionals };
      return {
        ...candidate,
        refusals: [...refusals, ...candidate.refusals],
        updatesFor: root => createCandidate(kept, { ...context, root }, unwanted).updates,
      };
    }
    for (const [{ chosen, service }] of refused) if (chosen === null) unwanted.add(service);
    const gone = new Set<unknown>(refused.map(([{ chosen }]) => chosen));
    cores = cores.filter(core => !gone.has(core));
    optionals = optionals.filter(optional => !gone.has(optional));
  }
}

/** A unit is refused when nothing of its own could start, or when a component that it needs could not. */
async function refusedUnits(
  { units, blocks }: Candidate,
  setups: ServiceSetups | undefined,
): Promise<(readonly [Unit, Refusal])[]> {
  if (setups === undefined) return [];
  const byName = new Map(blocks.map(block => [block.processName, block]));
  const obstacle = async (name: string): Promise<Problem | undefined> => {
    const block = byName.get(name);
    return block === undefined ? undefined : setups.obstacle(block);
  };
  const refused: (readonly [Unit, Refusal])[] = [];
  for (const unit of units) {
    const { service, before, main, after } = unit;
    const own = await Promise.all(main.map(obstacle));
    const [first] = own;
    if (first !== undefined && own.every(problem => problem !== undefined)) {
      refused.push([unit, { service, error: first.message, component: null }]);
      continue;
    }
    for (const component of [...before, ...after]) {
      const problem = await obstacle(component);
      if (problem === undefined) continue;
      refused.push([unit, { service, error: problem.message, component }]);
      break;
    }
  }
  return refused;
}
