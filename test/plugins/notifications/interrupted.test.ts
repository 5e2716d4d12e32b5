// A host that is killed during a delivery: the attempt counts once, and the message arrives. The next host gets a
// certificate authority, and trusts receivers with certificates of it.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { openReceiver } from '../../contracts/receiver.ts';
import { unknownCertificate } from '../../contracts/unknown-certificate.ts';
import { testDir } from '../../support/directory.ts';
import { freePort } from '../../support/host-config.ts';
import { type HostProcess, startHostProcess } from '../../support/host-process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';

interface Row {
  readonly id: string;
  readonly title: string;
  readonly status: string;
}

t.test('a delivery is completed by the next host', async t => {
  const receiver = await startReceiver(t);
  receiver.answer = () => undefined;
  const secure = await openReceiver({}, { tls: true });
  t.teardown(() => secure.close());
  const port = await freePort();
  const configDir = testDir(t, {});
  const destinations = [
    { id: 'one', provider: 'webhook', url: `${receiver.url}/` },
    { id: 'secure', provider: 'webhook', url: `${secure.base}/`, enabled: false },
  ];
  const dumb = {
    log_dir: path.join(configDir, 'log'),
    gateway: { enabled: false },
    api_service: { port },
    notifications: { enabled: true, retry_base_sec: 1, destinations },
  };
  const authority = path.join(configDir, 'authority.pem');
  await writeFile(authority, unknownCertificate.cert);
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify({ puid: 65_534, pgid: 65_534, dumb }));
  const plugins = ['notifications', 'notify-webhook', 'config', 'host-plugins'];
  const first = await startHostProcess(port, { configDir, plugins });
  const body = JSON.stringify({ title: 'once', body: 'and for all' });
  const headers = { 'content-type': 'application/json' };
  const testSecure = (host: HostProcess) =>
    host.json('/notifications/test', { method: 'POST', headers, body: '{"destination_id":"secure"}' });
  t.match(await testSecure(first), { status: 'failed', error: /certificate of the service is not trusted/ });
  await first.json('/notifications/send', { method: 'POST', headers, body });
  await until(() => receiver.received.length === 1);
  first.child.kill('SIGKILL');
  await first.exited;
  receiver.answer = (_, response) => void response.end();
  const second = await startHostProcess(port, { configDir, plugins }, { env: { NODE_EXTRA_CA_CERTS: authority } });
  const record = await until(async () => {
    const { items } = (await second.json('/notifications/history')) as { items: Row[] };
    return items.find(({ title, status }) => title === 'once' && status === 'completed');
  });
  t.match(record, { attempts: 2, error: null });
  t.same(
    receiver.received.map(({ body: { attempt, delivery_id: id } }) => [attempt, id]),
    [
      [1, record.id],
      [2, record.id],
    ],
  );
  t.match(await testSecure(second), { status: 'completed', error: null });
  second.child.kill('SIGTERM');
  t.equal(await second.exited, 0);
});
