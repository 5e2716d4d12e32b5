// A server that has asked for a pause gets no request during it, forced checks included.
import t from 'tap';
import { Problem } from '../../../core/contract/problem.ts';
import { UpdateChecks } from '../../../plugins/updates/update-checks.ts';

const MINUTE_MS = 60_000;

t.test('checks respect the pause that a server asks for', async t => {
  let nowMs = 1_000_000;
  t.intercept(performance, 'now', { value: () => nowMs });
  let asked = 0;
  const installs = {
    selector: () => ({ kind: 'latest' }),
    installed: async () => ({ version: 'v1.0.0' }),
    latest: async () => {
      asked += 1;
      throw new Problem(503, 'asked too often; wait', { headers: { 'Retry-After': '600' } });
    },
  };
  const host = {
    use: () => installs,
    find: () => undefined,
    emit: () => undefined,
    log: { warn: () => undefined },
    signal: new AbortController().signal,
  };
  const records = { result: () => undefined, setResult: async () => undefined };
  const checks = new UpdateChecks(host as never, records as never);
  const check = (force: boolean) => checks.check({ processName: 'Radarr' } as never, { force });

  for (const [minutes, force, times] of [
    [0, false, 1],
    [0, true, 1],
    [2, false, 1],
    [2, true, 1],
    [11, false, 2],
  ] as const) {
    nowMs = 1_000_000 + minutes * MINUTE_MS;
    t.equal(await check(force), 'asked too often; wait');
    t.equal(asked, times, `${force ? 'forced ' : ''}after ${minutes} min`);
  }
});
