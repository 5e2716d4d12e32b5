// A service whose block has a `host` is looked at there, because it may listen at no other address.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const hasIpv6 = Object.values(networkInterfaces()).some(known => known?.some(({ address }) => address === '::1'));

for (const host of ['127.0.0.2', '::1'])
  t.test(`a service that listens at ${host} alone is asked there`, { skip: host === '::1' && !hasIpv6 }, async t => {
    const server = createServer((_request, response) => response.end('fine')).listen(0, host);
    await once(server, 'listening');
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
