// Starts a host with one service that is restarted automatically, and a health endpoint whose answers the test decides.
import { createServer } from 'node:http';
import type { Test } from 'tap';
import type { EventType } from '../../core/contract/plugin.ts';
import { recordEvents } from './events.ts';
import { startHost, type TestHost } from './host.ts';
import { pidOf, status } from './kids.ts';
import { PACE } from './pace.ts';
import { until } from './until.ts';

export const NAME = 'Service';

export const block = (more: object = {}) => ({
  enabled: false,
  process_name: NAME,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

export const policy = (more: object = {}) => ({
  enabled: true,
  healthcheck_interval: 0.1,
  unhealthy_threshold: 2,
  max_restarts: 5,
  window_seconds: 600,
  backoff_seconds: [0],
  grace_period_seconds: 0,
  services: [{ process_name: NAME }],
  ...more,
});

/** Pass `pace` 1 when the service must end within the observation, even on a slow machine. */
export async function runWithAutoRestart(
  t: Test,
  service: object,
  autoRestart: object,
  pace = PACE,
  others: object = {},
) {
  const recorder = await recordEvents(t);
  const app = await startHost({
    plugins: recorder.plugins,
    pluginDirs: recorder.pluginDirs,
    pace,
    config: {
      dumb: {
        startup: { readiness_timeout_seconds: 0, stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
        auto_restart: autoRestart,
      },
      service,
      ...others,
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  const countOf = (event: string, name: string) => recorder.count(`service.${event}` as EventType, name);
  const count = (event: string) => countOf(event, NAME);
  return { app, events: recorder.events, count, countOf };
}

/** A server for health checks; `word` gives the status that each request is answered with, `asked` counts requests. */
export async function healthServer(t: Test, word: () => string) {
  const asked = { times: 0 };
  const server = createServer((_request, response) => {
    asked.times += 1;
    response.end(JSON.stringify({ status: word() }));
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { health: { path: '/', port: (server.address() as { port: number }).port }, asked };
}

export const counters = async (app: TestHost) => (await status(app, NAME)).restart;
export const untilCounters = (app: TestHost, holds: (restart: Awaited<ReturnType<typeof counters>>) => unknown) =>
  until(async () => {
    const restart = await counters(app);
    return holds(restart) && restart;
  });
export const killService = async (app: TestHost) => process.kill(await pidOf(app, NAME), 'SIGKILL');
