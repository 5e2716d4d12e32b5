// A session survives a shutdown: routes for tokens answer while services are being stopped.
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

t.test('tokens are verified and exchanged while services are being stopped', async t => {
  const app = await startHost({
    plugins: ['auth', 'config', 'health', 'process'],
    config: {
      slow: {
        enabled: false,
        process_name: 'Slow',
        command: ['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'],
        suppress_logging: true,
        stop_grace_seconds: 20,
      },
    },
  });
  let stopped: Promise<void> | undefined;
  t.teardown(() => stopped ?? app.stop());
  const user = { username: 'first', password: 'correct horse' };
  const { access_token: token, refresh_token: refresh } = (await app.post('/auth/setup', user)).body;
  const mine = { authorization: `Bearer ${token}` };
  const named = { process_name: 'Slow' };
  t.equal((await app.post('/process/start-service', named, mine)).status, 200);

  stopped = app.stop();
  await until(async () => (await app.get('/health')).body.phase === 'shutting_down');
  t.match(await app.post(`/auth/verify?token=${token}`), { status: 200, body: { valid: true, username: 'first' } });
  t.match(await app.post('/auth/refresh', { refresh_token: refresh }), { status: 200, body: { access_token: String } });
  t.equal((await app.post('/config/process-config/schema', named, mine)).status, 200);
  t.equal((await app.post('/auth/users', { ...user, username: 'second' }, mine)).status, 503);
  t.equal((await app.post('/process/stop-service', named, mine)).status, 503);
  process.kill(Number((await app.get('/process/service-statuses', mine)).body.processes[0].pid), 'SIGKILL');
  await stopped;
});
