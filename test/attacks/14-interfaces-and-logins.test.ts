// Line 14: interfaces are served without a login only where nobody must log in, and nobody logs in as another client
// by the interface of the host itself.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { Agent, request } from 'undici';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { freePort } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const FIRST = { username: 'first', password: 'correct horse' };

async function serveApp(t: { teardown(fn: () => unknown): void }): Promise<number> {
  const service = createServer((_request, answer) => answer.end('hello'));
  await once(service.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    service.close();
    service.closeAllConnections();
  });
  return (service.address() as AddressInfo).port;
}

t.test('interfaces stay closed where users exist and the part that checks them is missing', async t => {
  const [port, gatewayPort] = [await serveApp(t), await freePort()];
  const app = { enabled: true, process_name: 'App', port, ui: {} };
  const dumb = { gateway: { enabled: true, port: gatewayPort }, plugins: { required: ['config'] } };
  const statusWith = async (users: string | undefined, more: object = {}): Promise<number> => {
    const config = JSON.stringify({ puid: 65_534, pgid: 65_534, dumb: { ...dumb, ...more }, app });
    const files = { 'stackwarden.json': config, ...(users === undefined ? {} : { 'users.json': users }) };
    const configDir = testDir(t, files);
    const host = await startHost({ plugins: ['config', 'service-ui', 'gateway'], configDir });
    const page = `http://127.0.0.1:${gatewayPort}/ui/app/`;
    try {
      await until(async () => fetch(page).then(async answer => (await answer.text()) !== undefined), {
        what: 'the gateway to answer',
      });
      return (await fetch(page)).status;
    } finally {
      await host.stop();
    }
  };
  t.equal(await statusWith(JSON.stringify({ enabled: true, users: [] })), 404);
  t.equal(await statusWith('{ damaged'), 404);
  t.equal(await statusWith(JSON.stringify({ enabled: true, users: [] }), { service_ui: { enabled: true } }), 200);
  t.equal(await statusWith(undefined), 200, 'without users everything is open');
  t.equal(await statusWith(JSON.stringify({ enabled: false, users: [] })), 200);
});

t.test('guesses by the interface of the host are those of their own client', async t => {
  const [apiPort, gatewayPort] = [await freePort(), await freePort()];
  const app = await startHost({
    plugins: ['auth', 'config', 'process', 'services', 'service-ui', 'gateway', 'docs'],
    listen: { port: apiPort },
    config: {
      dumb: {
        gateway: { enabled: true, port: gatewayPort },
        service_ui: { enabled: true },
        api_service: { process_name: 'DUMB API', port: apiPort },
      },
    },
  });
  t.teardown(() => app.stop());
  await app.post('/auth/setup', FIRST);
  const agent = new Agent({ localAddress: '127.0.0.2' });
  t.teardown(() => agent.close());
  const base = `http://127.0.0.1:${gatewayPort}/ui/dumb_api_service`;
  const ask = async (method: 'GET' | 'POST', path: string, body?: unknown) => {
    const answer = await request(base + path, {
      method,
      dispatcher: agent,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await answer.body.dump();
    return answer.statusCode;
  };
  await until(async () => (await ask('GET', '/openapi.json')) === 200, { what: 'the interface of the host' });
  t.equal(await ask('GET', '/'), 200, 'its landing page');
  t.equal(await ask('GET', '/config'), 401);
  await until(async () => (await ask('POST', '/auth/login', { ...FIRST, password: 'wrong horse' })) === 429, {
    what: 'the guesser to be slowed down',
    intervalMs: 1,
  });
  t.equal((await app.post('/auth/login', FIRST)).status, 200, 'who sits at the machine itself comes in');
});
