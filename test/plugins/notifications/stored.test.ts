// The database of the queue: one of an earlier program is used as it is, old and surplus messages are removed, a stop
// returns unfinished ones to the queue, and a file with foreign code is refused.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';

/** The layout of an earlier program. */
const LAYOUT = `
  CREATE TABLE deliveries (id TEXT PRIMARY KEY, event_id TEXT, destination_id TEXT, destination_name TEXT,
    event_type TEXT, severity TEXT, title TEXT, body TEXT, service_name TEXT, status TEXT, attempts INTEGER,
    bypass_enabled INTEGER, bypass_destination_enabled INTEGER, next_attempt_at REAL, error TEXT, metadata_json TEXT,
    created_at REAL, updated_at REAL, sent_at REAL);
  CREATE INDEX idx_deliveries_status_next ON deliveries (status, next_attempt_at);
  CREATE TABLE delivery_state (state_key TEXT PRIMARY KEY, active INTEGER, last_sent_at REAL, last_value TEXT,
    updated_at REAL);`;
const DAY_S = 86_400;
const now = Date.now() / 1_000;
const BELL = `export default { name: 'bell', host: '^1', setup (host) {
  host.event('bell.rang', { description: 'The bell rang' })
  host.contribute('notifications.event', 'bell.rang', {
    severity: 'critical', duringStartup: true,
    describe: ({ title, door, metadata }) => ({ title, body: '', conditionKey: door, metadata }),
  })
  globalThis.ringStored = data => host.emit('bell.rang', data)
} }`;
const ring = (data: object) => (globalThis as unknown as { ringStored(data: object): void }).ringStored(data);

function fill(file: string): void {
  const db = new Database(file);
  db.exec(LAYOUT);
  const insert = db.prepare(
    `INSERT INTO deliveries VALUES (@id, 'e', @to, 'Earlier', 'bell.rang', 'info', @title, @body, NULL, @status, 0, 0, 0, @at,
       NULL, @metadata, @at, @written, NULL)`,
  );
  const row = (more: object) =>
    insert.run({ to: 'fast', title: 't', body: 'b', metadata: '{}', at: now - 1_000, written: now - 1_000, ...more });
  db.transaction(() => {
    for (let count = 0; count < 20_100; count += 1) row({ id: `over-${count}`, status: 'failed', at: now - 5_000 });
    for (let count = 0; count < 5_000; count += 1)
      row({ id: `later-${count}`, to: 'later', status: 'queued', at: now + DAY_S });
    row({ id: 'old', title: 'too old', status: 'sent', at: now - 31 * DAY_S });
    row({ id: 'sent', title: 'long', body: 'x'.repeat(1_000_000), status: 'sent' });
    row({ id: 'odd', title: 'odd', metadata: '{not', status: 'suppressed' });
    row({ id: 'due', title: 'due', status: 'queued' });
    const ahead = now + 30 * DAY_S;
    row({ id: 'ahead', title: 'clock ahead', status: 'queued', at: ahead, written: ahead });
  })();
  const key = `cooldown:${JSON.stringify(['fast', 'bell.rang', null, 'door'])}`;
  db.prepare('INSERT INTO delivery_state VALUES (?, 0, ?, ?, ?)').run(key, now, 'odd', now);
  db.close();
}

t.test('a database of an earlier program is used', async t => {
  const receiver = await startReceiver(t);
  const dir = testDir(t, { own: { bell: { 'index.js': BELL } }, config: {} });
  const configDir = path.join(dir, 'config');
  const file = path.join(configDir, 'notifications/notifications.sqlite');
  await mkdir(path.dirname(file), { mode: 0o700 });
  fill(file);
  const hook = (id: string) => ({ id, provider: 'webhook', url: `${receiver.url}/${id}`, cooldown_sec: 600 });
  const start = () =>
    startHost({
      configDir,
      config: { dumb: { notifications: { enabled: true, destinations: [hook('fast'), hook('later')] } } },
      pace: 0.01,
      pluginDirs: [pluginsDir, path.join(dir, 'own')],
      plugins: ['notifications', 'notify-webhook', 'config', 'bell'],
    });
  const app = await start();
  let isRunning = true;
  t.teardown(() => (isRunning ? app.stop() : undefined));
  const history = async (query: string) => (await app.get(`/notifications/history?${query}`)).body.items;
  const found = (title: string, query: string) =>
    until(async () => (await history(query)).find((row: { title: string }) => row.title === title), { what: title });

  t.match(await found('due', 'status=completed'), { attempts: 1, destination_name: 'Earlier' });
  t.match(await found('clock ahead', 'status=completed'), { attempts: 1 }, 'written before the clock was set back');
  const { body } = await found('long', 'status=sent&limit=500');
  t.equal(body.length, 10_000, 'what was longer is cut');
  t.match(await found('odd', 'status=suppressed'), { metadata: {} });

  ring({ title: 'again', door: 'door' });
  await found('again', 'status=suppressed');
  const member = 'x'.repeat(3_000);
  const metadata = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`m${index}`, member]));
  ring({ title: `${'😀'.repeat(200)}`, door: 'other', metadata: { ...metadata, ['__proto__']: 1 } });
  const many = await until(async () => {
    const rows: { title: string; error: string; metadata: object }[] = await history('status=failed&limit=10');
    return rows.find(({ title }) => title.startsWith('😀'));
  });
  t.equal(many.error, 'Queue is full');
  t.equal(many.title, `${'😀'.repeat(148)}...`, 'no character is halved');
  t.ok(JSON.stringify(many.metadata).length < 25_000, 'metadata has an end');

  const db = new Database(file, { readonly: true });
  const terminal = db.prepare("SELECT count(*) FROM deliveries WHERE status NOT IN ('queued', 'retrying')").pluck();
  await until(() => Number(terminal.get()) < 20_010, { what: 'too many records to be removed' });
  t.equal(db.prepare("SELECT count(*) FROM deliveries WHERE title = 'too old'").pluck().get(), 0);

  receiver.answer = () => undefined;
  const test = app.post('/notifications/test', { destination_id: 'fast', title: 'tried once' }).catch(() => undefined);
  await app.post('/notifications/send', { title: 'unfinished', body: 'b', destination_ids: ['fast'] });
  await until(() =>
    ['tried once', 'unfinished'].every(title => receiver.received.some(({ body }) => body.title === title)),
  );
  await app.stop();
  isRunning = false;
  await test;
  const left = db.prepare('SELECT status, attempts, claimed_by, error FROM deliveries WHERE title = ?');
  t.same(left.get('unfinished'), { status: 'queued', attempts: 0, claimed_by: null, error: null });
  t.match(left.get('tried once'), { status: 'failed', claimed_by: null, error: 'Delivery interrupted by restart' });
  db.close();
});

t.test('a database with foreign triggers is refused', async t => {
  const configDir = testDir(t, {});
  const file = path.join(configDir, 'notifications/notifications.sqlite');
  await mkdir(path.dirname(file), { mode: 0o700 });
  const db = new Database(file);
  db.exec(`${LAYOUT} CREATE TRIGGER mine AFTER UPDATE ON deliveries BEGIN DELETE FROM deliveries; END;`);
  db.close();
  const app = await startHost({ configDir, config: {}, pace: 0.01, plugins: ['notifications', 'notify-webhook'] });
  t.teardown(() => app.stop());
  const refused = async (reason: RegExp) => {
    const { status, body } = await app.get('/notifications/history');
    t.match([status, body.detail], [503, reason]);
    t.equal((await app.get('/notifications/config')).status, 200);
  };
  await refused(/is none of this program's: move it away.*the trigger 'mine'/);
  const mending = new Database(file);
  mending.exec(
    'DROP TRIGGER mine; ALTER TABLE deliveries RENAME TO others; CREATE VIEW deliveries AS SELECT * FROM others',
  );
  mending.close();
  await refused(/is none of this program's: move it away.*view/);
});
