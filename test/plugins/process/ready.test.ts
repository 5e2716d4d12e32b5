// A start ends when the service's probe says that it is healthy, and an ended service is replaced at once without a
// delay. Neither depends on timers, which hardly advance here.
import { existsSync } from 'node:fs';
import t from 'tap';
import { pluginsDir, startHost } from '../../support/host.ts';
import { pidOf, start, status } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

/** At this pace the observation of a start takes minutes, and the timer of restarts fires once a minute. */
const PACE = 100;
const skip = !['auto-restart', 'health-probe'].every(name => existsSync(`${pluginsDir}/${name}/index.ts`));
const SERVER = `require('node:http').createServer((_, answer) => answer.end('{}')).listen(process.env.PORT, '127.0.0.1')`;

t.test('a start and a restart end when the service answers', { skip, timeout: 90_000 }, async t => {
  const port = await freePort();
  const app = await startHost({
    plugins: ['config', 'process', 'health-probe', 'auto-restart'],
    pace: PACE,
    config: {
      dumb: {
        startup: { readiness_timeout_seconds: 0, stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
        auto_restart: { enabled: true, backoff_seconds: [], services: [{ process_name: 'Web' }] },
      },
      web: {
        enabled: false,
        process_name: 'Web',
        command: [process.execPath, '-e', SERVER],
        config_dir: '/',
        port,
        env: { PORT: String(port) },
      },
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  t.equal((await start(app, 'Web')).status, 200);
  t.match(await status(app, 'Web'), { status: 'running', health_status: 'healthy' }, 'up before it was observed');

  const first = await pidOf(app, 'Web');
  process.kill(first, 'SIGKILL');
  await until(async () => (await status(app, 'Web')).status === 'running' && (await pidOf(app, 'Web')) !== first, {
    timeoutMs: 40_000,
    what: 'the replacement',
  });
});
