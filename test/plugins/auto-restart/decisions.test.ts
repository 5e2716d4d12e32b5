// Every decision of auto-restart is one line of the log: attempt, success, failure, suppression.
import t from 'tap';
import type { EventType } from '../../../core/contract/plugin.ts';
import { block, killService, NAME, policy, runWithAutoRestart, untilCounters } from '../../support/auto-restart.ts';
import type { TestHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

/** Lines of the own log that match, once there are as many as expected. */
async function lines(app: TestHost, pattern: RegExp, count: number): Promise<readonly string[]> {
  return until(
    async () => {
      const found = (await ownLog(app)).filter(line => pattern.test(line));
      return found.length >= count ? found : undefined;
    },
    { what: `${count} lines of ${pattern}` },
  );
}

t.test('an attempt that succeeds', async t => {
  const { app, events } = await runWithAutoRestart(t, block(), policy());
  await start(app, NAME);
  await killService(app);
  await untilCounters(app, ({ restart_successes: successes }) => successes === 1);
  t.equal((await lines(app, /Service is restarted, attempt 1 of 5: Killed by signal SIGKILL/, 1)).length, 1);
  t.equal((await lines(app, /Service is healthy again after its restart/, 1)).length, 1);
  const told = (type: EventType) => events.find(event => event.type === type);
  await until(() => told('service.auto_restart.succeeded'));
  t.match(told('service.stopped.unexpectedly'), {
    plugin: 'process',
    data: { processName: NAME, reason: /SIGKILL/ },
  });
  t.match(told('service.auto_restart.succeeded'), { plugin: 'auto-restart', data: { processName: NAME } });
});

t.test('an attempt that fails, and the limit', async t => {
  const { app, events } = await runWithAutoRestart(
    t,
    block({ enabled: true, command: ['/nowhere/program'] }),
    policy({ max_restarts: 1 }),
  );
  await until(() => events.some(({ type }) => type === 'service.auto_restart.suppressed'));
  t.equal((await lines(app, /Service is restarted, attempt 1 of 1: /, 1)).length, 1);
  t.equal((await lines(app, /the restart of Service failed: .*\/nowhere\/program was not found/, 1)).length, 1);
  const limit = /Service is not restarted, the limit of 1 restarts within 600 s is reached/;
  t.equal((await lines(app, limit, 1)).length, 1);
  const [attempt] = events.filter(({ type }) => type === 'service.auto_restart.attempt');
  t.match(attempt, { plugin: 'auto-restart', at: Number, data: { processName: NAME, attempt: 1 } });
  for (const type of ['service.start.failed', 'service.auto_restart.failed'] as const)
    t.match(
      events.find(event => event.type === type),
      { data: { processName: NAME, reason: /\/nowhere\/program/ } },
      type,
    );
});
