// How a running process is judged: its ports first, then the words of its own health address. And what follows from it.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { startHost, type TestHost } from '../../support/host.ts';
import { kid, pidOf, start, status, stop } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

async function serve(listener: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(listener);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

/** One answer per path. */
const ANSWERS: Record<string, readonly [number, string, string, string]> = {
  // path: status code, body, health, why
  '/ok': [200, '{"status":"ok"}', 'healthy', 'a good word'],
  '/plain': [200, 'hello', 'healthy', 'no state reported, 2xx'],
  '/migrating': [503, '{"status":"migrating"}', 'starting', 'a reported state wins over the code'],
  '/warming': [200, '{"state":"warming up"}', 'starting', 'another key, another word'],
  '/degraded': [200, '{"health":"Degraded"}', 'degraded', 'any case'],
  '/overall': [200, '{"overallStatus":"partial"}', 'degraded', 'the fourth key'],
  '/down': [200, '{"status":"down"}', 'unhealthy', 'a bad word in a good answer'],
  '/not-ready': [200, '{"status":"not ready"}', 'unhealthy', 'not ready is no ready'],
  '/broken': [500, 'oops', 'unhealthy', 'a server error without a state'],
  '/forbidden': [403, '', 'degraded', 'it answers, though not to us'],
  '/moved': [302, '', 'degraded', 'redirects are not followed'],
  '/large': [200, `"${'x'.repeat(70_000)}"`, 'degraded', 'a body that is too large'],
};

t.test('the words of a health address', async t => {
  const { server, port } = await serve((request, response) => {
    const [code = 404, body = ''] = ANSWERS[request.url ?? ''] ?? [];
    response.writeHead(code, { location: '/ok' }).end(body);
  });
  t.teardown(() => server.close());
  const blocks = Object.keys(ANSWERS).map((path, index) => [
    `kid_${index}`,
    kid(`Kid ${path}`, ['calm'], { health: { path, port } }),
  ]);
  const app = await startHost({ config: Object.fromEntries(blocks) });
  t.teardown(() => app.stop());
  await Promise.all(Object.keys(ANSWERS).map(path => start(app, `Kid ${path}`)));
  for (const [path, [code, , expected, why]] of Object.entries(ANSWERS)) {
    const seen = await until(async () => {
      const found = await status(app, `Kid ${path}`);
      return found.health_status === 'starting' && expected !== 'starting' ? null : found;
    });
    t.equal(seen.health_status, expected, `${path}: ${why}`);
    t.equal(seen.healthy, expected !== 'unhealthy');
    t.equal(seen.health_reason === null, expected === 'healthy', 'a reason exactly when it is not healthy');
    t.match(seen.health_details, {
      probe: 'http',
      endpoint: path,
      ...(path === '/large' ? {} : { http_status: code }),
    });
    t.notMatch(JSON.stringify(seen.health_details), 'oops', 'no bodies');
  }
});

t.test('ports, and an address that does not answer', async t => {
  const [closed, silent] = [await freePort(), await serve(() => undefined)];
  t.teardown(() => {
    silent.server.closeAllConnections();
    silent.server.close();
  });
  const app = await startHost({
    config: {
      closed: kid('Closed', ['calm'], { port: closed }),
      by_env: kid('By env', ['calm'], { env: { WEBDAV_PORT: closed } }),
      silent: kid('Silent', ['calm'], { health: { path: '/', port: silent.port } }),
    },
  });
  t.teardown(() => app.stop());
  for (const name of ['Closed', 'By env', 'Silent']) t.equal((await start(app, name)).status, 200);
  const found = (name: string) =>
    until(async () => (await status(app, name)).health_status === 'unhealthy' && status(app, name));
  t.equal((await found('Closed')).health_reason, `Port 127.0.0.1:${closed} not responding`);
  t.equal((await found('By env')).health_reason, `Port 127.0.0.1:${closed} not responding`);
  t.type((await found('Silent')).health_reason, 'string');
  await stop(app, 'Closed');
  t.match(await status(app, 'Closed'), { healthy: null, health_status: null, health_reason: 'Process not running' });
});

const policy = (more: Record<string, unknown>) => ({
  startup: { stabilization_seconds: 0, readiness_timeout_seconds: 0 },
  auto_restart: {
    enabled: true,
    healthcheck_interval: 0.2,
    unhealthy_threshold: 2,
    backoff_seconds: [0.1],
    grace_period_seconds: 0,
    max_restarts: 2,
    window_seconds: 600,
    services: [{ process_name: 'Kid' }],
    ...more,
  },
});

const restartOf = async (app: TestHost) => (await status(app, 'Kid')).restart;

t.test('auto-restart of an unhealthy service: threshold, recovery, limit', { timeout: 110_000 }, async t => {
  let word = 'ok';
  const { server, port } = await serve((_request, response) => response.end(JSON.stringify({ status: word })));
  t.teardown(() => server.close());
  const app = await startHost({
    config: { dumb: policy({}), kid: kid('Kid', ['calm'], { enabled: true, health: { path: '/', port } }) },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  await until(async () => (await status(app, 'Kid')).health_status === 'healthy');
  const first = await pidOf(app, 'Kid');
  t.match(await restartOf(app), { restart_attempts: 0, pending: false, disabled: false, awaiting_recovery: false });

  word = 'down';
  await until(async () => (await restartOf(app)).restart_attempts === 1, { timeoutMs: 60_000 });
  word = 'ok';
  const recovered = await until(
    async () => {
      const restart = await restartOf(app);
      return restart.restart_successes === 1 ? restart : null;
    },
    { timeoutMs: 60_000 },
  );
  t.not(await pidOf(app, 'Kid'), first, 'another process');
  t.type(recovered.last_restart_time, 'number', 'the time of a verified recovery');

  word = 'down';
  await until(
    async () =>
      (await app.get('/logs?process_name=DUMB')).body.chunk !== '' && (await restartOf(app)).restart_attempts === 2,
    { timeoutMs: 60_000 },
  );
  await until(async () => (await restartOf(app)).restart_failures >= 1, {
    timeoutMs: 60_000,
    what: 'the failed recovery',
  });
  t.equal((await restartOf(app)).restart_attempts, 2, 'at the limit no attempt is made before one leaves the window');

  t.equal((await stop(app, 'Kid')).status, 200);
  t.match(
    await until(async () => {
      const restart = await restartOf(app);
      return restart.pending ? null : restart;
    }),
    { disabled: true, pending: false },
  );
  word = 'ok';
  t.equal((await start(app, 'Kid')).status, 200);
  t.match(await restartOf(app), { disabled: false, recent_restart_attempts: 0, unhealthy_count: 0 }, 'a clean slate');
});
