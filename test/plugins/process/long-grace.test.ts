// A start beside leftovers of an earlier host waits as long as these may take to end, by the grace of their service.
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { leaveBehind } from '../../support/left-behind.ts';
import { followTimers } from '../../support/living-timers.ts';
import { until } from '../../support/until.ts';

const GRACE_S = 600;
/** What a stop takes at most beyond its grace. */
const BEYOND_MS = 90_000;

t.test('a start outlasts a long grace', async t => {
  const { pid: left, state } = await leaveBehind(t, 'Kid');
  const timers = followTimers(t);
  const app = await startHost({
    configDir: testDir(t, { supervisor: { 'state.json': state } }),
    plugins: ['config', 'process'],
    config: {
      kid: {
        enabled: false,
        process_name: 'Kid',
        command: ['sleep', '600'],
        suppress_logging: true,
        stop_grace_seconds: GRACE_S,
      },
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal, { what: 'the boot' });
  t.equal((await status(app, 'Kid')).status, 'unknown');
  const starting = start(app, 'Kid');
  await until(() => timers(GRACE_S * 1_000 + BEYOND_MS) === 1, { what: 'the wait' });
  process.kill(left, 'SIGKILL');
  t.equal((await starting).status, 200);
});
