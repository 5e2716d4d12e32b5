// A time that comes while the last run of a service is ending, or is being taken over, is not lost.
import t, { type Test } from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import type { ProcessSnapshot, ProcessStatus } from '../../../plugins/process/contract.ts';
import { Schedules } from '../../../plugins/schedules/schedules.ts';
import type { ServedTimes } from '../../../plugins/schedules/served-times.ts';

const processName = 'Job';

function scheduled(t: Test, more: Partial<ProcessSnapshot> = {}, schedule: unknown = '0 0 29 2 *') {
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

for (const status of ['stopping', 'unknown'] as const)
  t.test(`while it is ${status}`, async t => {
    const { done, told, due, move } = scheduled(t, { status });
    due();
    due();
    await move(status);
    t.same([done, told], [[], []], 'nothing is decided yet');
    await move('stopped');
    t.same(done, ['start'], 'once');
    await move('starting');
    await move('stopped');
    t.same(done, ['start'], 'nothing is left of it');
  });

t.test('what turns out to run is passed over', async t => {
  const { done, told, due, move } = scheduled(t, { status: 'unknown' });
  due();
  await move('running');
  t.same(done, []);
  t.match(told, [/not started by its schedule this time: it still runs/]);
});

t.test('what a user stops is not waited for', async t => {
  const { done, told, due, move } = scheduled(t, { status: 'stopping', stoppedByUser: true });
  due();
  t.match(told, [/it was stopped by hand/]);
  await move('stopped');
  t.same(done, []);
});

t.test('what is restarted by its schedule needs no wait', async t => {
  const { done, due } = scheduled(t, { status: 'stopping' }, { cron: '0 0 29 2 *', overlap: 'restart' });
  due();
  t.same(done, ['restart']);
});
