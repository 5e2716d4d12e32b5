// The health of a database server, which listens long before it accepts clients.
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !existsSync(path.join(pluginsDir, 'service-postgres'));
const webApp = fileURLToPath(new URL('../../support/web-app.cjs', import.meta.url));

t.test('a server that recovers is starting, and healthy when it takes clients', { skip }, async t => {
  const postgres = await postgresBlock(t, ['hot_standby=off']);
  // A standby refuses all clients until it is promoted.
  const standby = path.join(postgres.config_dir, 'standby.signal');
  await writeFile(standby, '');
  const app = await startHost({ plugins: 'services', config: { postgres } });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'PostgreSQL')).status, 200);
  const refused = await until(async () => {
    const found = await status(app, 'PostgreSQL');
    return found.health_status === 'starting' && found.health_reason !== null && found;
  });
  t.match(refused, {
    status: 'running',
    health_reason: 'It takes no clients yet',
    health_details: { probe: 'postgresql' },
  });
  await stop(app, 'PostgreSQL');
  await rm(standby);
  await start(app, 'PostgreSQL');
  await until(async () => (await status(app, 'PostgreSQL')).health_status === 'healthy');
});

t.test('a server is probed at the address that its own settings give', { skip }, async t => {
  const server = await postgresBlock(t);
  for (const host of ['*', 'localhost, 192.0.2.1', '192.0.2.1,*']) {
    const postgres = { ...server, host };
    const app = await startHost({ plugins: 'services', config: { postgres } });
    t.equal((await start(app, 'PostgreSQL')).status, 200, host);
    await until(async () => (await status(app, 'PostgreSQL')).health_status === 'healthy', { what: host });
    await app.stop();
  }
});

t.test('another program on the port is not a database server', { skip }, async t => {
  const port = await freePort();
  const command = [process.execPath, webApp, String(port)];
  const postgres = { enabled: false, process_name: 'PostgreSQL', command, config_dir: '', port };
  const app = await startHost({ plugins: 'services', config: { postgres } });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'PostgreSQL')).status, 200);
  const found = await until(async () => {
    const { health_status, health_reason } = await status(app, 'PostgreSQL');
    return health_reason === `Port 127.0.0.1:${port} does not answer as PostgreSQL` && health_status;
  });
  t.equal(found, 'unhealthy');
});
