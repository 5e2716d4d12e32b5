// Process control without plugins that extend it: no probes, restarts or graph, and still the complete answers.
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const sleeper = (processName: string, more: object = {}) => ({
  enabled: true,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

t.test('a running process is ready, and the restart counters are zero', async t => {
  const app = await startHost({
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      one: sleeper('One'),
      two: sleeper('Two', { wait_for_url: { url: 'http://127.0.0.1:9/', process_name: 'One' }, enabled: false }),
      broken: sleeper('Broken', { enabled: false, command: ['false'] }),
    },
    plugins: ['process', 'config', 'logs', 'health'],
    // On a busy machine, a program that ends at once may outlive a shorter observation.
    pace: 1,
  });
  t.teardown(() => app.stop());
  const startup = await until(async () => {
    const { body } = await app.get('/process/startup-status');
    return body.terminal ? body : undefined;
  });
  t.match(startup, { phase: 'ready', services: { One: { state: 'ready', health_status: 'healthy' } } });
  t.match(await status(app, 'One'), {
    status: 'running',
    healthy: true,
    health_status: 'healthy',
    health_details: { probe: 'process' },
    held: null,
    restart: {
      restart_attempts: 0,
      restart_successes: 0,
      restart_failures: 0,
      recent_restart_attempts: 0,
      pending: false,
      next_restart_time: null,
      disabled: false,
      last_restart_time: null,
      last_failure_reason: null,
      last_exit_reason: null,
      last_exit_time: null,
      unhealthy_count: 0,
      unhealthy_threshold: 0,
      readiness_state: 'ready',
      ready_at: Number,
      awaiting_recovery: false,
      exit_code: null,
      exit_signal: null,
    },
  });
  t.match(await start(app, 'Broken'), { status: 500 });
  t.match(await status(app, 'Broken'), { health_status: 'unhealthy', restart: { exit_code: 1 } });
  t.match((await app.get('/health')).body, { status: 'healthy' });
  t.notOk('dependency_graph' in (await app.get('/process?process_name=One&scope=all')).body);
  await stop(app, 'One');
  t.match(await status(app, 'One'), { status: 'stopped', restart: { disabled: true, readiness_state: 'pending' } });
});
