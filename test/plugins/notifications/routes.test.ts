// The calls of the frontend: load, save with blank secrets, save and test, send by hand, history, clear.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-plugins.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';

const SECRET = 's3cr3t-path-of-mine';
const HEADER = 'Bearer t0ken-of-mine';

const service = (name: string, enabled: boolean) => ({ enabled, process_name: name, command: ['sleep', '600'] });

t.test('the flow of the frontend', async t => {
  const receiver = await startReceiver(t);
  const app = await startHost({
    plugins: ['notifications', 'notify-webhook', 'config', 'process'],
    config: { a: service('Alpha', true), b: service('Beta', true), c: service('Gamma', false) },
  });
  t.teardown(() => app.stop());
  const save = (config: object) => app.post('/notifications/config', { config });
  const file = () => readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8');

  t.equal((await app.get('/process/capabilities')).body.notifications, true);
  const fresh = (await app.get('/notifications/config')).body;
  t.match(fresh, {
    enabled: false,
    monitor_interval_sec: 30,
    history_retention_days: 30,
    max_attempts: 3,
    retry_base_sec: 30,
    destinations: [],
    thresholds: { cpu_percent: 85, disk_percent: 90, database_pressure: 'high', duration_sec: 60 },
  });
  t.match((await app.get('/notifications/events/')).body, {
    event_types: ['manual'],
    severities: ['info', 'success', 'warning', 'critical'],
  });
  t.same((await app.get('/notifications/history?limit=100')).body, { items: [] });

  const hook = {
    id: 'one',
    name: 'Hook',
    enabled: true,
    provider: 'webhook',
    url: `  ${receiver.url}/${SECRET}  `,
    headers: { 'X-Mine': HEADER },
    verify_tls: true,
    minimum_severity: 'info',
    event_types: ['manual', 'some.unknown', 'manual'],
    service_names: ['Beta', ' Alpha '],
    cooldown_sec: 0,
    send_recovery: true,
    url_configured: false,
    newer_member: 1,
  };
  const saved = await save({ ...fresh, enabled: true, destinations: [hook], newer_member: 2 });
  t.equal(saved.status, 200, saved.text);
  t.match(saved.body, {
    enabled: true,
    destinations: [
      {
        id: 'one',
        url_configured: true,
        headers_configured: true,
        event_types: ['manual', 'some.unknown'],
        service_names: ['Alpha', 'Beta'],
      },
    ],
  });
  t.notMatch(saved.text, /s3cr3t|t0ken|"url"|"headers"|newer_member/);
  t.match(await file(), SECRET);
  t.notMatch(await file(), 'newer_member');

  await t.test('blank secrets keep their stored value, in both ways to save', async t => {
    const posted = (await app.get('/notifications/config')).body;
    t.equal((await save(posted)).status, 200);
    t.equal((await save({ destinations: [{ ...posted.destinations[0], url: ' ', headers: {} }] })).status, 200);
    const whole = await app.get('/config');
    t.notMatch(whole.text, /s3cr3t|t0ken/);
    t.match(whole.body.dumb.notifications.destinations, [{ url: '', url_configured: true, headers: {} }]);
    t.equal((await app.post('/config', { updates: { dumb: whole.body.dumb } })).status, 200);
    t.match(await file(), SECRET);
    t.match(await file(), HEADER);
    const test = await app.post('/notifications/test', { destination_id: 'one' });
    t.match(
      [test.status, test.body],
      [200, { status: 'completed', attempts: 1, event_type: 'manual', severity: 'info' }],
    );
    t.match(receiver.at(`/${SECRET}`), [{ headers: { 'x-mine': HEADER }, body: { source: 'DUMB', attempt: 1 } }]);
    t.equal(receiver.received.length, 1);
  });

  await t.test('an invalid configuration is refused, and nothing is saved', async t => {
    const before = await file();
    const [known] = (await app.get('/notifications/config')).body.destinations;
    const refused = async (config: unknown, message: RegExp, status = 400) => {
      const answer = await app.post('/notifications/config', { config });
      t.match([answer.status, answer.body.detail], [status, message]);
      t.notMatch(answer.text, /s3cr3t|t0ken/);
    };
    const one = (more: object) => ({ destinations: [{ ...known, ...more }] });
    await refused([], /must be an object/);
    await refused(undefined, /config: it is missing/);
    await refused({ monitor_interval_sec: 0 }, /^Invalid notification configuration at monitor_interval_sec: /);
    await refused({ max_attempts: null }, /at max_attempts/);
    await refused({ thresholds: { disk_percent: 101 } }, /at thresholds.disk_percent/);
    await refused(one({ cooldown_sec: -1 }), /at destinations.0.cooldown_sec/);
    await refused(one({ cooldown_sec: 1.5 }), /at destinations.0.cooldown_sec/);
    await refused({ destinations: 3 }, /at destinations/);
    await refused(one({ service_names: ['Gamma', 'Nobody'] }), /'Gamma', 'Nobody'/);
    await refused({ destinations: [known, known] }, /id 'one'/);
    await refused(one({ url: 'https://me:t0ken@host/' }), /'Hook'.*no user and password/);
    await refused(one({ url: 'ftp://host/s3cr3t' }), /'Hook'.*begins with http/);
    await refused(one({ url: 'host/s3cr3t' }), /'Hook'.*begins with http/);
    await refused(one({ url: 'http://h/s3cr3t http://h/s3cr3t' }), /one URL per destination/);
    await refused(one({ provider: 'apprise', url: 'nobody://t0ken' }), /Unsupported notification service 'nobody'/);
    const left =
      /'Hook'.*Unsupported notification service 'gotify'\. Supported: none\. For other services use a gateway URL/;
    await refused(one({ provider: 'apprise', url: 'gotify://h/t0ken' }), left);
    await refused(one({ provider: 'apprise', url: 'https://host/s3cr3t' }), /choose the generic webhook/);
    await refused(one({ headers: { Host: 't0ken' } }), /'Hook'.*'host' belongs to the request itself/);
    await refused(one({ headers: { 'a b': 't0ken' } }), /'Hook'.*name of a header/);
    await refused(one({ headers: { a: 's3cr3t\r\nb: c' } }), /'Hook'.*value of a header is one line/);
    t.equal(await file(), before);
    t.equal((await app.post('/notifications/config', [])).status, 422);
    t.equal(
      (await app.post('/config', { updates: { dumb: { notifications: one({ url: 'ftp://s3cr3t' }) } } })).status,
      400,
    );
    t.equal(await file(), before);
  });

  await t.test('tests and messages by hand are sent', async t => {
    receiver.received.length = 0;
    const none = await app.post('/notifications/test', { destination_id: 'none' });
    t.match([none.status, none.body.detail], [400, 'Destination was not found or has no configured URL.']);
    t.equal((await app.post('/notifications/test', {})).status, 422);
    receiver.answer = (_, response) => void response.writeHead(500).end(`no such path /${SECRET} for ${HEADER}`);
    const failed = await app.post('/notifications/test', { destination_id: 'one', title: 'x'.repeat(400), body: null });
    t.match(failed.body, { status: 'failed', attempts: 1, error: /^HTTP 500: no such path \/\[redacted\]/ });
    t.equal(failed.body.title.length, 300);
    receiver.answer = (_, response) => void response.end();

    const send = (json: object) => app.post('/notifications/send', json);
    for (const json of [{ title: '', body: 'b' }, { title: 't' }, { title: 'x'.repeat(301), body: 'b' }])
      t.equal((await send(json)).status, 422);
    t.equal((await send({ title: 't', body: 'b', severity: 'bad' })).status, 400);
    for (const destination_ids of [[], ['none']])
      t.match((await send({ title: 't', body: 'b', destination_ids })).body.detail, /^No enabled destination/);
    const sent = await send({
      title: 'Hello',
      body: 'password=hunter22',
      severity: 'warning',
      destination_ids: ['none', 'one'],
    });
    t.match(sent.body, { status: 'queued', delivery_ids: [/^[0-9a-f]{32}$/] });
    const [record] = await until(async () => {
      const { items } = (await app.get('/notifications/history?limit=1')).body;
      return items[0]?.status === 'completed' && items;
    });
    t.match(record, { id: sent.body.delivery_ids[0], title: 'Hello', body: 'password=[REDACTED]', sent_at: Number });
    t.match(receiver.received.at(-1)?.body, { title: 'Hello', severity: 'warning', delivery_id: record.id });
  });

  await t.test('a disabled destination can be tested, but gets no messages', async t => {
    const [known] = (await app.get('/notifications/config')).body.destinations;
    t.equal((await save({ enabled: false, destinations: [{ ...known, enabled: false }] })).status, 200);
    t.equal((await app.post('/notifications/test', { destination_id: 'one' })).body.status, 'completed');
    t.equal((await app.post('/notifications/send', { title: 't', body: 'b' })).status, 400);
    t.equal((await save({ enabled: true, destinations: [known] })).status, 200);
  });

  await t.test('the history can be filtered and limited', async t => {
    const of = async (query: string) => (await app.get(`/notifications/history${query}`)).body.items;
    t.equal((await of('?status=sent')).length, 3);
    t.equal((await of('?status=completed&limit=2')).length, 2);
    t.match(await of('?status=failed'), [{ status: 'failed', error: /HTTP 500/ }]);
    t.same(await of('?event_type=other'), []);
    for (const limit of ['0', '501', 'x'])
      t.equal((await app.get(`/notifications/history?limit=${limit}`)).status, 422);
    t.notMatch((await app.get('/notifications/history')).text, /s3cr3t|t0ken|claimed|bypass/);
    t.same((await app.request('DELETE', '/notifications/history')).body, { deleted: 4 });
    t.same(await of(''), []);
  });

  await t.test('a disabled service is hidden, and stays selected', async t => {
    await app.post('/config', { process_name: 'Beta', updates: { enabled: false } });
    await app.post('/config', { process_name: 'Alpha', updates: { enabled: false } });
    const now = (await app.get('/notifications/config')).body;
    t.same(now.destinations[0].service_names, []);
    t.equal((await save(now)).status, 200);
    t.same(
      JSON.parse(await file()).dumb.notifications.destinations[0].service_names,
      ['Alpha', 'Beta'],
      'stays stored',
    );
    await app.post('/config', { updates: { dumb: { notifications: { max_attempts: 4 } } } });
    const told = async () =>
      (await ownLog(app))
        .match(/'Hook' of notifications is limited to services of which '\w+'/g)
        ?.map(line => line.split("'")[3]);
    await until(async () => ((await told())?.length ?? 0) > 1, { what: 'both to be told' });
    t.same((await told())?.sort(), ['Alpha', 'Beta'], 'each is told once');
  });

  await t.test('a disabled service that was started by hand can be chosen', async t => {
    const [known] = (await app.get('/notifications/config')).body.destinations;
    const limited = { destinations: [{ ...known, service_names: ['Gamma'] }] };
    t.match(await save(limited), { status: 400, body: { detail: /'Gamma'/ } });
    await app.post('/process/start-service', { process_name: 'Gamma' });
    const answer = await save(limited);
    t.match([answer.status, answer.body.destinations?.[0].service_names], [200, ['Gamma']], answer.text);
    t.same((await save((await app.get('/notifications/config')).body)).status, 200);
  });

  await t.test('a destination with a new id needs its secrets', async t => {
    const [known] = (await app.get('/notifications/config')).body.destinations;
    const { id: _, ...other } = known;
    t.match((await save({ destinations: [other] })).body.destinations, [
      { id: /^[0-9a-f]{32}$/, url_configured: false },
    ]);
    t.match((await save({ destinations: [known] })).body.destinations, [{ id: 'one', url_configured: false }]);
    t.same((await save({ destinations: [] })).body.destinations, []);
  });
});

t.test('without the plugin its routes are gone', async t => {
  const app = await startHost({ plugins: ['config', 'process'] });
  t.teardown(() => app.stop());
  t.notOk('notifications' in (await app.get('/process/capabilities')).body);
  t.equal((await app.get('/notifications/config')).status, 404);
});

t.test('a save of a value that the environment overrides says so', async t => {
  process.env.DUMB_NOTIFICATIONS_MAX_ATTEMPTS = '7';
  t.teardown(() => delete process.env.DUMB_NOTIFICATIONS_MAX_ATTEMPTS);
  const app = await startHost({ plugins: ['notifications', 'config'], config: {} });
  t.teardown(() => app.stop());
  const { body: config } = await app.get('/notifications/config');
  t.equal(config.max_attempts, 7);
  const save = (changes: object) => app.post('/notifications/config', { config: { ...config, ...changes } });
  t.match((await save({ enabled: true })).body, { enabled: true, overridden: [], warnings: [] });
  const saved = await save({ max_attempts: 4 });
  t.match(saved.body, { max_attempts: 7, overridden: ['dumb.notifications.max_attempts'] });
  t.equal((await save(saved.body)).status, 200, 'the answer can be saved as it is');
});

t.test('an id that stands twice in the file hinders no change elsewhere', async t => {
  const double = (name: string) => ({ id: 'twin', name, provider: 'webhook', url: 'http://127.0.0.1:1/' });
  const app = await startHost({
    plugins: ['notifications', 'notify-webhook', 'config', 'process'],
    config: { a: service('Alpha', false), dumb: { notifications: { destinations: [double('One'), double('Two')] } } },
  });
  t.teardown(() => app.stop());
  const changed = await app.post('/config', { updates: { a: { env: { A: '1' } } } });
  t.equal(changed.status, 200, changed.text);
  t.equal((await app.post('/notifications/config', { config: { max_attempts: 4 } })).status, 200);
  const { body: config } = await app.get('/notifications/config');
  const saved = await app.post('/notifications/config', {
    config: { ...config, destinations: [...config.destinations, { id: 'three' }] },
  });
  t.match(saved, { status: 400, body: { detail: /two destinations have the id 'twin'; give each its own/ } });
  t.equal((await ownLog(app)).split("several have the id 'twin'").length, 2, 'the log tells once');
});

t.test('a list in the file that is too long is used, and does not grow', async t => {
  const all = Array.from({ length: 51 }, (_, i) => ({ id: `d${i}`, provider: 'webhook', url: 'http://127.0.0.1:1/' }));
  const app = await startHost({
    plugins: ['notifications', 'notify-webhook', 'config'],
    config: { dumb: { notifications: { destinations: all } } },
  });
  t.teardown(() => app.stop());
  const save = (config: object) => app.post('/notifications/config', { config });
  const { body: config } = await app.get('/notifications/config');
  t.equal(config.destinations.length, 51);
  const saved = await save(config);
  t.equal(saved.status, 200, saved.text);
  t.ok(saved.body.destinations.every(({ url_configured: isKept }: { url_configured: boolean }) => isKept));
  t.match(await save({ destinations: [...config.destinations, { id: 'more' }] }), {
    status: 400,
    body: { detail: /at destinations: there may be 50; remove one before you add another$/ },
  });
  t.equal((await save({ destinations: config.destinations.slice(1) })).status, 200);
  t.equal((await save({ destinations: config.destinations })).status, 400);
});
