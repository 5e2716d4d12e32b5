// The plan of a service's updates while the source of its program is loaded anew.
import t from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import type { ScheduleRecord, UpdateRecords } from '../../../plugins/updates/update-records.ts';
import { Updates } from '../../../plugins/updates/updates.ts';

const DAY_S = 24 * 3_600;
const NEXT = Math.floor(Date.now() / 1_000) + 5 * DAY_S;

t.test('a plan stays while its source is missing, and goes with the wish for updates', async t => {
  const block: Record<string, unknown> = { auto_update: true, auto_update_interval: 168 };
  const named = { processName: 'Gadget', configKey: 'gadget', block };
  let isOffered = true;
  let kind = 'latest';
  let kept: ScheduleRecord | undefined = {
    interval_hours: 168,
    start_time: '04:00',
    time_zone: 'UTC',
    first_day: new Date(Date.now() - 2 * DAY_S * 1_000).toISOString().slice(0, 10),
    next_check_at: NEXT,
  };
  const looks: (() => unknown)[] = [];
  const services: Readonly<Record<string, object>> = {
    'config.store': { blocks: () => [named], get: () => 'UTC' },
    'process.supervisor': { startup: () => ({ terminal: true }), settledMs: null },
    'service.templates': { get: () => ({ install: {}, block: { auto_update: false } }) },
    installs: { isSupported: () => isOffered, selector: () => ({ kind }) },
  };
  const host = {
    paced: (ms: number) => ms,
    every: (_ms: number, callback: () => unknown) => void looks.push(callback),
    jobs: async () => ({ watch: () => undefined, list: () => [] }),
    find: (name: string) => services[name],
    use: (name: string) => services[name],
  };
  const records = {
    result: () => undefined,
    owedStarts: () => new Map(),
    schedule: () => kept,
    setSchedule: async (_name: string, schedule: ScheduleRecord | null) => {
      kept = schedule ?? undefined;
    },
  };
  const updates = await Updates.open(host as unknown as Host, records as unknown as UpdateRecords);
  updates.start();
  const look = () => {
    for (const one of looks) one();
    return updates.status(named as never)?.next_check_at;
  };
  t.equal(look(), NEXT);
  isOffered = false;
  t.equal(look(), undefined);
  isOffered = true;
  t.equal(look(), NEXT);
  kind = 'pinned';
  t.equal(look(), undefined);
  t.equal(kept, undefined, 'a fixed release has no plan');
  kind = 'latest';
  t.not(look() ?? NEXT, NEXT);
  block.auto_update = false;
  look();
  t.equal(kept, undefined, 'nor have updates that are not wanted');
  updates.end();
});
