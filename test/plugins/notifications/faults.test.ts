// Receivers that fail, hang or ask for pauses, and a database that is locked, full or damaged.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-plugins.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';

const LOCKER = fileURLToPath(new URL('../../support/sqlite-lock.cjs', import.meta.url));
const isRoot = process.getuid?.() === 0;

/** A third party's plugin, whose event a test emits. */
const BELL = `export default { name: 'bell', host: '^1', setup (host) {
  host.event('bell.rang', { description: 'The bell rang' })
  host.contribute('notifications.event', 'bell.rang', {
    severity: 'critical', duringStartup: true,
    describe: ({ title, door }) => ({ title, body: '', conditionKey: door }),
  })
  globalThis.ring = (title, door) => host.emit('bell.rang', { title, door })
} }`;
const ring = (title: string, door = '') =>
  (globalThis as unknown as { ring(title: string, door: string): void }).ring(title, door);

interface Row {
  readonly [key: string]: unknown;
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly attempts: number;
  readonly destination_id: string;
}

const rows = async (app: TestHost): Promise<Row[]> =>
  (await app.get('/notifications/history?limit=500')).body.items ?? [];
const rowOf = async (app: TestHost, title: string, destination = 'fast') =>
  (await rows(app)).find(row => row.title === title && row.destination_id === destination);
const reached = (app: TestHost, title: string, status: string, destination?: string) =>
  until(
    async () => {
      const row = await rowOf(app, title, destination);
      return row?.status === status ? row : undefined;
    },
    { what: `${title} to be ${status}` },
  );

async function open(
  t: Test,
  name: string,
  destinations: readonly object[],
  before?: (configDir: string) => Promise<void>,
) {
  const dir = testDir(t, { own: { bell: { 'index.js': BELL } }, [name]: {} });
  const configDir = path.join(dir, name);
  await before?.(configDir);
  const app = await startHost({
    configDir,
    config: { dumb: { notifications: { enabled: true, destinations } } },
    pace: 0.01,
    pluginDirs: [pluginsDir, path.join(dir, 'own')],
    plugins: ['notifications', 'notify-webhook', 'notify-ntfy', 'config', 'bell'],
  });
  t.teardown(() => app.stop());
  return { app, file: path.join(configDir, 'notifications/notifications.sqlite') };
}

const hook = (id: string, url: string, more: object = {}) => ({
  id,
  provider: 'webhook',
  url,
  cooldown_sec: 0,
  ...more,
});

t.test('faults of receivers', async t => {
  const receiver = await startReceiver(t);
  const slow = hook('slow', `${receiver.url}/slow`);
  const fast = hook('fast', `${receiver.url}/fast`);
  const { app } = await open(t, 'receivers', [slow, fast]);
  const save = async (destinations: object[]) => {
    const saved = await app.post('/notifications/config', { config: { destinations } });
    t.equal(saved.status, 200, saved.text);
  };

  await t.test('a receiver that hangs delays no other', async t => {
    receiver.answer = ({ path: at }, response) => void (at === '/fast' && response.end());
    for (const title of ['1', '2', '3', '4', '5']) ring(title);
    await until(() => receiver.at('/fast').length === 5);
    t.same(
      receiver.at('/fast').map(({ body }) => body.title),
      ['1', '2', '3', '4', '5'],
      'in their order',
    );
    t.equal(receiver.at('/slow').length, 1, 'while the other has not answered its first');
    const test = await app.post('/notifications/test', { destination_id: 'fast' });
    t.equal(test.body.status, 'completed');
  });

  await t.test('messages to a removed destination fail', async t => {
    await save([fast]);
    await reached(app, '5', 'failed', 'slow');
    t.match(await rowOf(app, '5', 'slow'), { attempts: 0, error: 'Destination no longer exists.' });
  });

  await t.test('one whose entry in the file does not fit at present', async t => {
    await save([slow, fast]);
    const held: { end(): void }[] = [];
    receiver.answer = ({ path: at }, response) => void (at === '/fast' ? response.end() : held.push(response));
    ring('held');
    ring('waits');
    await until(() => held.length === 1);
    const file = path.join(app.configDir, 'stackwarden.json');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/("cooldown_sec": ?)0/, '$1"none"'));
    await until(async () => (await app.get('/notifications/config')).body.destinations.length === 1);
    ring('to the other');
    await reached(app, 'to the other', 'completed');
    t.match(await rowOf(app, 'waits', 'slow'), { status: 'queued', error: null });
    await writeFile(file, text);
    receiver.answer = (_, response) => void response.end();
    for (const response of held) response.end();
    await reached(app, 'waits', 'completed', 'slow');
    await save([fast]);
  });

  await t.test('the number of attempts is limited', async t => {
    let left = 2;
    receiver.answer = (_, response) => {
      left -= 1;
      response.writeHead(left >= 0 ? 500 : 200).end();
    };
    ring('third time lucky');
    t.match(await reached(app, 'third time lucky', 'completed'), { attempts: 3, error: null, sent_at: Number });
    t.same(
      receiver.received.slice(-3).map(({ body }) => body.attempt),
      [1, 2, 3],
    );
    left = 100;
    ring('never');
    t.match(await reached(app, 'never', 'failed'), { attempts: 3, error: 'HTTP 500', sent_at: null });
  });

  await t.test('a repetition skips targets that were reached', async t => {
    const topics = hook('topics', `${receiver.url.replace('http', 'ntfy')}/one/two/three`, { provider: 'apprise' });
    await save([topics]);
    const asked: string[] = [];
    receiver.answer = ({ body: { topic } }, response) => {
      asked.push(topic);
      const isRefused = topic === 'two' && asked.filter(other => other === 'two').length < 3;
      response.writeHead(isRefused ? 500 : 200).end('{}');
    };
    ring('to three');
    t.match(await reached(app, 'to three', 'completed', 'topics'), { attempts: 3 });
    t.same(asked, ['one', 'two', 'three', 'two', 'two']);
    await save([fast]);
  });

  await t.test('an endless answer with a good status counts as delivered', async t => {
    const hanging = hook('hanging', `${receiver.url.replace('http', 'ntfy')}/topic?rto=1`, { provider: 'apprise' });
    await save([hanging]);
    const before = receiver.received.length;
    receiver.answer = (_, response) => void response.writeHead(200).write('{"id":');
    ring('taken');
    t.match(await reached(app, 'taken', 'completed', 'hanging'), { attempts: 1, error: null });
    receiver.answer = (_, response) =>
      void response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy());
    ring('taken, and cut off');
    t.match(await reached(app, 'taken, and cut off', 'completed', 'hanging'), { attempts: 1 });
    t.equal(receiver.received.length, before + 2, 'nothing is sent twice');
    await save([fast]);
  });

  await t.test('each condition has its own cooldown', async t => {
    receiver.answer = (_, response) => void response.end();
    await save([{ ...fast, cooldown_sec: 600 }]);
    for (const [title, door] of [
      ['front', 'a'],
      ['back', 'b'],
      ['again', 'a'],
      ['and again', 'a'],
    ] as const)
      ring(title, door);
    await reached(app, 'front', 'completed');
    await reached(app, 'back', 'completed');
    const row = await reached(app, 'again', 'suppressed');
    t.equal(row.attempts, 0);
    await until(
      async () =>
        JSON.stringify((await rowOf(app, 'again'))?.metadata) === '{"condition_key":"a","suppressed_count":2}',
    );
    t.equal(await rowOf(app, 'and again'), undefined);
    await save([fast]);
  });

  await t.test('a pause that the receiver asks for is kept unless it is disabled', async t => {
    receiver.answer = (_, response) => void response.writeHead(429, { 'retry-after': '900' }).end();
    ring('first');
    const { next_attempt_at: next } = await reached(app, 'first', 'retrying');
    t.ok(Number(next) > Date.now() / 1_000 + 600, 'waits as long as it says');
    ring('second');
    await reached(app, 'second', 'queued');
    await save([{ ...fast, enabled: false }]);
    const row = await until(async () => {
      const second = await rowOf(app, 'second');
      return Number(second?.next_attempt_at) > Number(second?.created_at) + 20 ? second : undefined;
    });
    t.match(row, { status: 'queued', attempts: 0 });
    receiver.answer = (_, response) => void response.end();
    t.equal((await app.post('/notifications/test', { destination_id: 'fast' })).body.status, 'completed');
    t.equal((await app.post('/notifications/send', { title: 't', body: 'b' })).status, 400);
  });
});

async function held(file: string): Promise<{ release(): Promise<void> }> {
  const child = spawn(process.execPath, [LOCKER, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    async release() {
      child.stdin.end();
      await exited;
    },
  };
}

t.test('a locked database loses no event', async t => {
  const receiver = await startReceiver(t);
  const { app, file } = await open(t, 'locked', [hook('fast', `${receiver.url}/fast`)]);
  ring('before');
  await reached(app, 'before', 'completed');
  const lock = await held(file);
  t.teardown(() => lock.release());
  ring('meanwhile');
  for (const [route, json] of [
    ['test', { destination_id: 'fast' }],
    ['send', { title: 't', body: 'b' }],
  ] as const)
    t.equal((await app.post(`/notifications/${route}`, json)).status, 503);
  const history = await app.get('/notifications/history');
  t.match(
    [history.status, history.body.detail],
    [503, /^Notification storage is temporarily unavailable: .*locked.* The service will retry automatically\.$/],
  );
  t.equal((await app.get('/notifications/config')).status, 200);
  t.equal((await app.get('/notifications/events')).status, 200);
  ring('also');
  t.equal(receiver.received.length, 1);
  await lock.release();
  await until(() => receiver.received.length === 3);
  t.same(
    receiver.received.map(({ body }) => body.title),
    ['before', 'meanwhile', 'also'],
  );
  const log = await until(async () => {
    const text = await ownLog(app);
    return text.includes('the storage of notifications can be used again') ? text : '';
  });
  t.equal(log.match(/the storage of notifications cannot be used/g)?.length, 1);
  t.equal(log.match(/the storage of notifications can be used again/g)?.length, 1);

  const last = await held(file);
  t.teardown(() => last.release());
  ring('too late');
  await until(async () => (await app.get('/notifications/history')).status === 503);
  await app.stop();
  t.match(await ownLog(app), /1 notifications are lost: their storage could not be used until the end/);
});

t.test('a file that is no database is left alone, and the newest events wait', async t => {
  const receiver = await startReceiver(t);
  const text = 'not a database, but somebody may want it'.repeat(100);
  const { app, file } = await open(t, 'damaged', [hook('fast', `${receiver.url}/`)], async configDir => {
    await mkdir(path.join(configDir, 'notifications'), { mode: 0o700 });
    await writeFile(path.join(configDir, 'notifications/notifications.sqlite'), text, { mode: 0o600 });
  });
  for (let count = 0; count < 250; count += 1) ring(String(count));
  const history = await app.get('/notifications/history');
  t.match([history.status, history.body.detail], [503, /damaged/]);
  t.equal((await app.get('/notifications/config')).status, 200);
  t.equal(await readFile(file, 'utf8'), text, 'left as it is');
  await rm(file);
  await until(() => receiver.received.length >= 200);
  t.same([receiver.received[0]?.body.title, receiver.received.length], ['50', 200], 'the newest were kept');
  await until(async () => /50 notifications were lost/.test(await ownLog(app)));
});

t.test('a read-only or full disk is reported', { skip: !isRoot && 'only root may mount' }, async t => {
  const receiver = await startReceiver(t);
  let disk = '';
  const { app, file } = await open(t, 'full', [hook('fast', `${receiver.url}/`)], async configDir => {
    disk = path.join(configDir, 'notifications');
    await mkdir(disk, { mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=1m,mode=700', 'tmpfs', disk]);
    t.teardown(() => execFileSync('umount', ['--lazy', disk]));
  });
  ring('before');
  const history = await app.get('/notifications/history');
  t.match([history.status, history.body.detail], [503, /cannot be written; check.* read-only/]);
  execFileSync('mount', ['-o', 'remount,rw', disk]);
  await reached(app, 'before', 'completed');
  const filler = path.join(path.dirname(file), 'filler');
  await writeFile(filler, Buffer.alloc(2 * 1_024 * 1_024)).catch(() => undefined);
  const large = { title: 'large', body: 'x'.repeat(10_000) };
  const full = await until(async () => {
    const sent = await app.post('/notifications/send', large);
    return sent.status === 503 ? sent : undefined;
  });
  t.match(full.body.detail, /free some space/);
  ring('meanwhile');
  await rm(filler);
  await until(() => receiver.received.some(({ body }) => body.title === 'meanwhile'));
  t.equal((await app.get('/notifications/history')).status, 200);
});
