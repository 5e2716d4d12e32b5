// An update that exceeds its time limit: preparation is abandoned, and a begun swap is completed.
import t from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import type { JobRun } from '../../../core/contract/job.ts';
import { Installation, type InstallOrder } from '../../../plugins/updates/installation.ts';
import type { OwedStarts } from '../../../plugins/updates/owed-starts.ts';
import type { UpdateRecords } from '../../../plugins/updates/update-records.ts';

const NAME = 'App';
const PLACING = { stage: 'placing', from: 'v1', to: 'v2', running: [NAME], notes: {} };

/** Runs an update on a minimal host. `onWait` is called at each wait without an end. */
async function outcomeOf(checkpoint: JobRun['checkpoint'], onWait: () => void, signal: AbortSignal) {
  const endless = (until: AbortSignal): Promise<never> => {
    onWait();
    return new Promise((_resolve, reject) => until.addEventListener('abort', () => reject(until.reason)));
  };
  let starts = 0;
  let result: unknown;
  const snapshot = { processName: NAME, status: 'running', pid: 1, enabled: true, stoppedByUser: false };
  const supervisor = {
    get: () => ({ ...snapshot, held: null }),
    health: () => ({ status: 'healthy' }),
    startup: () => ({ terminal: true, services: {} }),
    released: async () => undefined,
    hold: (_name: string, _reason: string, work: (held: object) => unknown, options: { signal: AbortSignal }) => {
      const start = () => {
        starts += 1;
        return starts === 1 ? endless(options.signal) : Promise.resolve();
      };
      return work({ signal: options.signal, snapshot: () => snapshot, start, stop: async () => undefined });
    },
  };
  const installs = {
    isSupported: () => true,
    installed: async () => ({ version: 'v2', sharedWith: [] }),
    latest: (_name: string, options: { signal: AbortSignal }) => endless(options.signal),
  };
  const services: Readonly<Record<string, object>> = { installs, 'process.supervisor': supervisor };
  const host = {
    signal: new AbortController().signal,
    stopping: null,
    log: { info() {}, warn() {}, error() {} },
    paced: () => 0,
    emit() {},
    find: (name: string) => services[name],
    use: (name: string) => services[name],
  };
  const records = {
    result: () => undefined,
    setResult: async (_name: string, told: unknown) => {
      result = told;
    },
    addNotice: async () => undefined,
  };
  const input: InstallOrder = { process_name: NAME, selector: { kind: 'latest' }, is_wanted_anyway: false };
  const run = { id: '1', key: NAME, input, checkpoint, signal, save: async () => undefined, report() {} };
  const installation = new Installation(
    host as unknown as Host,
    { records: records as unknown as UpdateRecords, owed: { isPassing: () => false } as unknown as OwedStarts },
    run as unknown as JobRun<InstallOrder>,
  );
  await installation.run();
  return { result, starts };
}

t.test('the limit abandons a preparation, and completes a begun swap', async t => {
  const limit = new AbortController();
  const late = () => setImmediate(() => limit.abort(new Error('late')));
  const prepared = await outcomeOf(null, late, limit.signal);
  t.match(prepared.result, {
    status: 'error',
    reason: 'install_failed',
    message: 'it took longer than an update may; see the log of App, and install it again',
  });

  const other = new AbortController();
  const placed = await outcomeOf(PLACING, () => setImmediate(() => other.abort(new Error('late'))), other.signal);
  t.match(placed.result, { status: 'updated', current_version: 'v2' }, 'the service is not left stopped');
  t.equal(placed.starts, 2);
});
