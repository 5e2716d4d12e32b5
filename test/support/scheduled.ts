// A schedule of one service whose times a test brings about; it records what the schedule does and logs.
import type { Test } from 'tap';
import type { Host } from '../../core/contract/host.ts';
import type { ProcessSnapshot, ProcessStatus } from '../../plugins/process/contract.ts';
import { Schedules } from '../../plugins/schedules/schedules.ts';
import type { ServedTimes } from '../../plugins/schedules/served-times.ts';

const processName = 'Job';

export function scheduled(t: Test, more: Partial<ProcessSnapshot> = {}, schedule: unknown = '0 0 29 2 *') {
  const process = { processName, status: 'stopped', held: null, stoppedByUser: false, ...more } as ProcessSnapshot;
  const block = { enabled: true, process_name: processName, schedule };
  const done: string[] = [];
  const told: string[] = [];
  const ended = new AbortController();
  t.teardown(() => ended.abort());
  let due = (): void => undefined;
  const services = {
    'config.store': { blocks: () => [{ processName, block }], findBlock: () => ({ block }), get: () => 'UTC' },
    'process.supervisor': {
      get: () => ({ ...process }),
      start: async () => void done.push('start'),
      restart: async () => void done.push('restart'),
    },
  };
  const host = {
    name: 'schedules',
    signal: ended.signal,
    stopping: null,
    log: { info: (line: string) => void told.push(line), warn: (line: string) => void told.push(line) },
    use: (name: keyof typeof services) => services[name],
    find: (name: keyof typeof services) => services[name],
    cron(_cron: string, callback: () => void) {
      due = callback;
      return { stop: () => undefined, next: () => null };
    },
  };
  const served = { of: () => undefined, set: () => undefined, keep: () => undefined };
  const schedules = new Schedules(host as unknown as Host, served as unknown as ServedTimes);
  schedules.follow();
  return {
    done,
    told,
    due: () => due(),
    async move(status: ProcessStatus) {
      Object.assign(process, { status });
      schedules.moved(process);
      await new Promise(setImmediate);
    },
  };
}
