// Runs cycles of a replication between a primary and one subordinate request manager, in process, on a clock of the
// test.
import { WorkQueue } from '../../core/kit/work-queue.ts';
import { Cycles } from '../../plugins/request-sync/cycles.ts';
import { HttpRequestManager } from '../../plugins/request-sync/http-request-manager.ts';
import { syncSection } from '../../plugins/request-sync/settings.ts';
import { emptyState, type State } from '../../plugins/request-sync/state.ts';
import { RequestManager } from './request-manager.ts';
import { managerNetwork } from './request-manager-network.ts';

export const MINUTE_MS = 60_000;
const never = new AbortController().signal;

interface StageOptions {
  readonly options?: object;
  readonly state?: State;
  readonly primary?: RequestManager;
  readonly follower?: RequestManager;
  readonly turnMs?: number;
}

/** Sets up a primary and one subordinate. Each call of `cycle` runs one cycle of the same replication. */
export function stage({ options = {}, state = emptyState(), turnMs, ...managers }: StageOptions = {}) {
  const clock = { nowMs: Date.parse('2026-01-01T00:00:00Z') };
  const made = (name: string) => new RequestManager({ name, clock: () => clock.nowMs });
  const primary = managers.primary ?? made('primary');
  const follower = managers.follower ?? made('follower');
  const saves = { isFull: false, count: 0 };
  const network = managerNetwork(
    new Map([
      [`http://${primary.name}`, primary],
      [`http://${follower.name}`, follower],
    ]),
    async () => undefined,
  );
  const peer = ({ name, apiKey }: RequestManager) => {
    const address = `http://${name}`;
    const host = { fetch: network.fetch as never, paced: () => 0 };
    const lane = new WorkQueue({ concurrency: 1 });
    return {
      label: address,
      address,
      manager: new HttpRequestManager({ host, address, apiKey, lane, stopping: never, signal: never }),
    };
  };
  const save = async () => {
    if (saves.isFull) throw new Error('no space left');
    saves.count += 1;
  };
  const subordinates = [peer(follower)];
  const cycles = new Cycles({
    state,
    settings: { ...syncSection.parse({}).options, ...options },
    primary: peer(primary),
    subordinates,
    labels: subordinates.map(({ label }) => label),
    save,
    saveCycle: save,
    changed: save,
    nowMs: () => clock.nowMs,
    ...(turnMs === undefined ? {} : { turnMs }),
  });
  const writes = () => follower.journal.calls(follower.name).filter(({ call }) => call.method !== 'GET');
  return {
    state,
    clock,
    primary,
    follower,
    saves,
    writes,
    cycle: () => cycles.run(),
    /** Runs a cycle that reads the whole list. */
    sweep: () => {
      clock.nowMs += 15 * MINUTE_MS;
      return cycles.run();
    },
    held: (fingerprint: string) => state.requests.get(fingerprint)?.subordinates[`http://${follower.name}`],
  };
}

export const ask = (manager: RequestManager, count: number, first = 1) =>
  Array.from({ length: count }, (_, index) => manager.ask({ mediaType: 'movie', tmdbId: first + index }));
