// What a request to start a process leaves behind once it is answered.
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { restart } from '../../support/kids.ts';
import { followTimers } from '../../support/living-timers.ts';
import { PACE } from '../../support/pace.ts';
import { until } from '../../support/until.ts';

const RESTARTS = 4;
/** How long a client waits for a start; this host's clients a fifth of it. */
const PATIENCE_MS = 300_000;

t.test('an answered start keeps no timer', async t => {
  const timers = followTimers(t);
  const command = ['sleep', '600'];
  const block = { enabled: false, process_name: 'Sleeper', command, suppress_logging: true, stop_grace_seconds: 1 };
  const app = await startHost({ plugins: ['process'], config: { sleeper: block } });
  t.teardown(() => app.stop());
  t.equal((await restart(app, 'Sleeper')).status, 200);
  const before = timers(PATIENCE_MS * PACE);
  for (let number = 0; number < RESTARTS; number += 1) t.equal((await restart(app, 'Sleeper')).status, 200);
  await until(() => timers(PATIENCE_MS * PACE) <= before, {
    timeoutMs: 20_000,
    what: 'the timers of the starts to be cleared',
  });
});
