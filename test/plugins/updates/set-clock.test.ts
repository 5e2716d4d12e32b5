// A scheduled update that the clock, or the time without its source, has passed over by hours does not come at once, nor
// does one whose service was gone at its time.
import t from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import type { UpdateRecords } from '../../../plugins/updates/update-records.ts';
import { UpdateSchedule } from '../../../plugins/updates/update-schedule.ts';

const processName = 'Gadget';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const OwnDate = Date;
let aheadMs = 0;
t.before(() => {
  globalThis.Date = class extends OwnDate {
    constructor(...given: [] | [number]) {
      super(given[0] ?? OwnDate.now() + aheadMs);
    }
    static override now(): number {
      return OwnDate.now() + aheadMs;
    }
  } as DateConstructor;
});
t.teardown(() => {
  globalThis.Date = OwnDate;
});
t.beforeEach(() => {
  aheadMs = 0;
});

/** A schedule whose daily update comes so many hours from now, or came so many hours ago. */
function scheduled(hours: number) {
  const start = new OwnDate(OwnDate.now() + hours * HOUR_MS).toISOString().slice(11, 16);
  const block = {
    processName,
    configKey: 'gadget',
    block: { auto_update: true, auto_update_start_time: start },
  };
  const updated: string[] = [];
  const told: string[] = [];
  let look = (): void => undefined;
  let isPossible: boolean | undefined = true;
  let isThere = true;
  const services = {
    'config.store': { blocks: () => (isThere ? [block] : []), get: () => 'UTC' },
    'process.supervisor': { startup: () => ({ terminal: true }) },
  };
  const host = {
    signal: new AbortController().signal,
    paced: (ms: number) => ms,
    log: { info: (line: string) => void told.push(line) },
    use: (name: keyof typeof services) => services[name],
    find: (name: keyof typeof services) => services[name],
    every(_ms: number, callback: () => void) {
      look = callback;
    },
  };
  const schedule = new UpdateSchedule(host as unknown as Host, {
    records: { schedule: () => undefined, setSchedule: async () => undefined } as unknown as UpdateRecords,
    isPossible: () => isPossible,
    update: async () => {
      updated.push(processName);
      return false;
    },
  });
  schedule.start();
  schedule.nextAt(block as never);
  return {
    start,
    told,
    /** As plugins do that offer and withdraw its source. */
    offer(isOffered: boolean) {
      isPossible = isOffered || undefined;
    },
    /** As a change of the configuration does that removes the service, or adds it again. */
    put(isPut: boolean) {
      isThere = isPut;
      schedule.keepOnly(new Set(isThere ? [processName] : []));
    },
    async look() {
      look();
      await new Promise(setImmediate);
      return updated.length;
    },
    next: () =>
      schedule
        .nextAt(block as never)
        ?.toISOString()
        .slice(11, 16),
  };
}

t.test('a clock that is set ahead by days triggers no update', async t => {
  const { start, told, look, next } = scheduled(-8);
  t.equal(await look(), 0);
  aheadMs = 3 * DAY_MS;
  t.equal(await look(), 0);
  t.match(told, [/^Gadget: the clock was set ahead over its scheduled update/]);
  t.equal(next(), start);
  aheadMs += 17 * HOUR_MS;
  t.equal(await look(), 1, 'at the next start time');
});

t.test('a clock that is set ahead by less than some hours makes a late update', async t => {
  const { look } = scheduled(1);
  aheadMs = 2 * HOUR_MS;
  t.equal(await look(), 1);
});

t.test('an update that is due while its source is missing is made afterwards unless it is hours late', async t => {
  for (const [hours, updates] of [
    [2, 1],
    [6, 0],
  ] as const) {
    aheadMs = 0;
    const { start, look, next, offer } = scheduled(1);
    offer(false);
    // In steps for which no clock is set.
    for (; aheadMs < hours * HOUR_MS; aheadMs += 2 * HOUR_MS) t.equal(await look(), 0);
    t.equal(await look(), 0);
    t.equal(next(), undefined);
    offer(true);
    t.equal(await look(), updates, `after ${hours} h`);
    t.equal(next(), start);
  }
});

t.test('a service that is removed over the time of its update and added again is planned anew', async t => {
  const { start, look, next, put } = scheduled(1);
  put(false);
  aheadMs = 2 * HOUR_MS;
  t.equal(await look(), 0);
  put(true);
  t.equal(await look(), 0);
  t.equal(next(), start);
});
