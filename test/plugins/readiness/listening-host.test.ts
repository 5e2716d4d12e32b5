// A service whose block has a `host` is looked at there, because it may listen at no other address.
import { createServer } from 'node:http';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

for (const host of ['127.0.0.2', '::1'])
  t.test(host, async t => {
    const server = createServer((_request, response) => response.end('fine')).listen(0, host);
    const canListen = await new Promise(resolve => {
      server.once('listening', () => resolve(true)).once('error', () => resolve(false));
    });
    if (canListen === false) return t.pass('a machine without IPv6');
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as { port: number };
    const block = (processName: string, more: object) => ({
      enabled: false,
      process_name: processName,
      command: ['sleep', '600'],
      suppress_logging: true,
      stop_grace_seconds: 1,
      host,
      ...more,
    });
    const app = await startHost({
      plugins: ['process', 'health-probe', 'readiness'],
      config: {
        healthy: block('Healthy', { health: { path: '/', port } }),
        web: block('Web', { readiness: { http: { path: '/', port }, interval_seconds: 0.1 } }),
        listener: block('Listener', { readiness: { tcp: { port }, interval_seconds: 0.1 } }),
      },
    });
    t.teardown(() => app.stop());
    for (const name of ['Healthy', 'Web', 'Listener']) {
      t.match(await start(app, name), { status: 200 });
      await until(async () => (await status(app, name)).health_status === 'healthy', { what: name });
    }
  });
