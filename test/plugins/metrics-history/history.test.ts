// The routes of the history on a running host: samples are stored, imported and given, and a damaged file is replaced.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { asOwner, startHost, type TestHost } from '../../support/host.ts';
import { changeMainFile } from '../../support/host-config.ts';
import { ownLog } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const linkMount = fileURLToPath(new URL('../../support/link-mount.cjs', import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
type Body = any;

async function startWith(t: Test, metrics: Record<string, unknown>, configDir?: string): Promise<TestHost> {
  const app = await startHost({
    plugins: ['metrics-history', 'config', 'health'],
    config: { dumb: { metrics } },
    ...(configDir === undefined ? {} : { configDir }),
  });
  t.teardown(() => app.stop());
  return app;
}

const history = async (app: TestHost, query = ''): Promise<Body> => (await app.get(`/metrics/history${query}`)).body;
const storage = async (app: TestHost): Promise<Body> => (await app.get('/metrics/history/storage')).body;
const enough = (app: TestHost, count: number) => until(async () => (await history(app)).items.length >= count);

t.test('samples are stored, listed and charted', async t => {
  const app = await startWith(t, { history_interval_sec: 0.5 });
  await enough(app, 4);
  await app.post('/config', { updates: { dumb: { metrics: { history_enabled: false } } } });
  const { items, truncated } = await history(app);
  t.equal(truncated, false);
  const times = items.map(({ timestamp }: Body) => timestamp);
  t.same(times, [...times].sort());
  t.type(items[0].system.mem.total, 'number');
  t.notOk('disk_paths' in (items[0].dumb_managed[0] ?? {}));
  // A sample may have been on its way when the setting changed.
  const all = await until(async () => {
    const { length } = (await history(app)).items;
    return (await storage(app)).sqlite.samples === length && length;
  });
  const limit = await history(app, `?limit=${all}`);
  const cut = await history(app, `?limit=${Number(all) - 1}`);
  t.equal(limit.truncated, false, 'exactly the limit');
  t.equal(cut.truncated, true, 'one less');
  t.same(cut.items.at(-1), limit.items.at(-1), 'the newest stay');

  const { status, body, headers } = await app.get(
    '/metrics/history_series?since=0.0&limit=5000&max_points=600&bucket_seconds=5',
  );
  t.equal(status, 200);
  t.match(headers['content-type'], 'application/json');
  t.equal(body.timestamps.length, body.items.length);
  t.equal(body.items.at(-1).timestamp, limit.items.at(-1).timestamp);
  t.ok(body.stats.mem.min > 0);
  const sixHours = (await app.get('/metrics/history_series')).body;
  t.equal(sixHours.bucket_seconds, 36, 'six hours in 600 points');
  const since = Date.now() / 1_000 - 21_600;
  t.equal((await app.get(`/metrics/history_series?since=${since}`)).body.bucket_seconds, 36, 'told a moment ago');
  for (const route of ['/metrics/history?full=true', '/metrics/history_series?full=true']) {
    const { headers: packed } = await app.get(route, { 'accept-encoding': 'gzip' });
    t.equal(packed['content-encoding'], 'gzip', route);
  }
  const numbers = await storage(app);
  t.match(numbers, {
    configured_provider: 'sqlite',
    active_provider: 'sqlite',
    fallback_active: false,
    last_error: null,
    postgresql: null,
    sqlite: { samples: limit.items.length, newest_timestamp: limit.items.at(-1).timestamp, error: null },
  });
  t.ok(numbers.sqlite.compression_ratio > 0 && numbers.sqlite.compression_ratio < 1);
  t.ok(numbers.sqlite.file_bytes > 0);

  const socket = app.ws('/ws/metrics?bootstrap=true&history_points=600&history_bucket=5');
  const frames: Body[] = [];
  socket.on('message', data => frames.push(JSON.parse(String(data))));
  await until(() => frames.length > 0);
  t.equal(frames[0].type, 'bootstrap');
  t.same(frames[0].timestamps.at(-1), body.timestamps.at(-1));
  t.equal(frames[0].series.cpu.length, frames[0].items.length);
  socket.close();
  const raw = app.ws('/ws/metrics?history=true&history_limit=2');
  const rawFrames: Body[] = [];
  raw.on('message', data => rawFrames.push(JSON.parse(String(data))));
  await until(() => rawFrames.length > 0);
  t.match(rawFrames[0], { type: 'history', truncated: true });
  t.equal(rawFrames[0].items.length, 2);
  raw.close();

  for (const query of ['?since=soon', '?full=maybe', '?limit=x'])
    t.equal((await app.get(`/metrics/history${query}`)).status, 422, query);
  t.equal((await app.get('/metrics/history_series?max_points=-1&bucket_seconds=0')).status, 200);
  const many = '9'.repeat(30);
  t.equal((await history(app, `?limit=${many}`)).items.length, (await history(app, '?limit=50000')).items.length);
  t.equal((await app.get(`/metrics/history_series?max_points=${many}&limit=${many}`)).status, 200);
  t.equal((await app.get('/process/capabilities')).status, 404);
  t.equal((await app.post('/config', { updates: { dumb: { metrics: { history_interval_sec: 0.1 } } } })).status, 400);
});

t.test('files of an earlier program are imported at the start, and on request', async t => {
  const configDir = testDir(t, { metrics: {} });
  const line = (timestamp: number) => JSON.stringify({ timestamp, system: { cpu_percent: 5 } });
  const now = Math.floor(Date.now() / 1_000);
  await writeFile(
    path.join(configDir, 'metrics', 'metrics-20260101-1.jsonl'),
    `${line(now - 60)}\n\n${line(now - 50)}\n`,
  );
  await writeFile(path.join(configDir, 'metrics', 'metrics-20260101-2.jsonl'), `${line(now - 40)}\n{"timestamp": 17`);
  await writeFile(path.join(configDir, 'metrics', 'metrics-notes.jsonl'), `${line(now - 30)}\n`);
  const app = await startWith(t, { history_enabled: false }, configDir);
  await until(async () => (await storage(app)).sqlite.samples === 3);
  const migration = { completed: false, files: 2, samples: 3, skipped: 1 };
  await until(async () => (await storage(app)).legacy_jsonl.migration.files === 2);
  const { legacy_jsonl: legacy } = await storage(app);
  t.match(legacy, { files: 2, preserved: true, migration });
  const { body } = await app.post('/metrics/history/migrate?force=true');
  t.same(body, migration, 'a torn line is counted, and nothing is there twice');
  t.equal((await storage(app)).sqlite.samples, 3);
  await writeFile(path.join(configDir, 'metrics', 'metrics-20260101-2.jsonl'), `${line(now - 40)}\n`);
  const [one, two] = await Promise.all([
    app.post('/metrics/history/migrate'),
    app.post('/metrics/history/migrate?force=1'),
  ]);
  t.same(one.body, { completed: true, files: 2, samples: 3, skipped: 0 }, 'what was not complete is tried again');
  t.same(two.body, one.body, 'a second call shares the import');
  await writeFile(path.join(configDir, 'metrics', 'metrics-20260102-1.jsonl'), 'torn');
  t.equal((await app.post('/metrics/history/migrate')).body.files, 2, 'what was complete is not read again');
});

t.test('a damaged file is set aside', async t => {
  const configDir = testDir(t, { metrics: {} });
  await writeFile(path.join(configDir, 'metrics', 'metrics.sqlite'), 'no database at all '.repeat(500), {
    mode: 0o600,
  });
  const app = await startWith(t, { history_interval_sec: 0.5 }, configDir);
  await enough(app, 1);
  const names = await readdir(path.join(configDir, 'metrics'));
  t.ok(names.some(name => name.startsWith('metrics.sqlite.corrupt-')));
});

t.test('samples wait in memory for a file that is locked, and reads do not wait', async t => {
  const app = await startWith(t, { history_interval_sec: 0.5 });
  await enough(app, 1);
  const other = new Database(path.join(app.configDir, 'metrics', 'metrics.sqlite'));
  t.teardown(() => other.close());
  const before = (await storage(app)).sqlite.samples;
  other.exec('BEGIN IMMEDIATE');
  // There are no files to import, which is noted.
  let isImported = false;
  const imported = app.post('/metrics/history/migrate?force=true').finally(() => {
    isImported = true;
  });
  const taken = (await app.get('/metrics')).body.timestamp;
  await until(async () => (await app.get('/metrics')).body.timestamp > taken + 2);
  for (const route of ['history', 'history?full=true', 'history_series', 'history/storage'])
    t.equal((await app.get(`/metrics/${route}`)).status, 200, route);
  t.notOk(isImported, 'what writes waits for the lock, what reads was told before');
  other.exec('COMMIT');
  t.match((await imported).body, { completed: true, files: 0 });
  await until(async () => (await storage(app)).sqlite.samples >= before + 3, { timeoutMs: 30_000 });
  const { items } = await history(app);
  const times = items.map(({ timestamp }: Body) => timestamp);
  t.same(new Set(times).size, times.length, 'none is there twice');
  t.ok(
    times.some((time: number) => time > taken - 1 && time < taken + 2),
    'what was taken meanwhile is there',
  );
  t.notMatch(await ownLog(app), /not kept yet/, 'which is no fault');
});

t.test('a long lock of the file is logged, and costs no sample', async t => {
  const app = await startWith(t, { history_interval_sec: 0.5 });
  await enough(app, 1);
  const other = new Database((await storage(app)).sqlite.path);
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const locked = Date.now() / 1_000;
  const { error } = await until(
    async () => {
      const { sqlite } = await storage(app);
      return sqlite.error !== null && sqlite;
    },
    { what: 'the lock to be told' },
  );
  t.match(error, /is locked by another process; end what uses it/);
  t.match(await ownLog(app), /a sample is not kept yet; \d+ wait in memory/);
  t.equal((await app.get('/metrics/history')).status, 200, 'what is there can be read');
  const over = Date.now() / 1_000;
  t.ok(over - locked > 10);
  other.exec('COMMIT');
  await until(async () => (await storage(app)).sqlite.error === null, { what: 'the samples to be written' });
  await until(async () => /samples are kept again/.test(await ownLog(app)), { what: 'the log to say it' });
  const times: number[] = (await history(app)).items.map(({ timestamp }: Body) => timestamp);
  const during = times.filter(time => time > locked && time < over);
  const gaps = during.map((time, index) => time - (during[index - 1] ?? locked));
  t.ok(Math.max(...gaps, over - (during.at(-1) ?? locked)) < 5, 'all that were taken meanwhile are there');
});

t.test('waiting samples are written before the host ends', async t => {
  const app = await startWith(t, { history_interval_sec: 0.5 });
  await enough(app, 1);
  const other = new Database((await storage(app)).sqlite.path);
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const taken = (await app.get('/metrics')).body.timestamp;
  await until(async () => (await app.get('/metrics')).body.timestamp > taken + 3);
  const stopped = app.stop();
  other.exec('COMMIT');
  await stopped;
  const newest = other.prepare('SELECT max(timestamp) FROM metrics_snapshots').pluck().get() as number;
  t.ok(newest > taken + 2);
});

t.test('a shorter interval takes effect at once', async t => {
  const app = await startWith(t, { history_interval_sec: 3_600 });
  t.same((await history(app)).items, []);
  await app.post('/config', { updates: { dumb: { metrics: { history_interval_sec: 0.5 } } } });
  await enough(app, 2);
});

t.test(
  'a full disk is told, and what waits is written when there is room',
  { skip: !isRoot && 'only root may mount' },
  async t => {
    const disk = testDir(t);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=755', 'tmpfs', disk]);
    t.teardown(() => run('umount', ['--lazy', disk]));
    const app = await startWith(t, {
      history_interval_sec: 0.5,
      storage: { sqlite_path: path.join(disk, 'm.sqlite') },
    });
    await enough(app, 1);
    const filler = path.join(disk, 'filler');
    await writeFile(filler, Buffer.alloc(4 * 1_024 * 1_024)).catch(() => undefined);
    const { error, samples } = await until(async () => {
      const { sqlite } = await storage(app);
      return sqlite.error !== null && sqlite;
    });
    t.match(error, /cannot grow; free some space on its disk/);
    t.equal((await app.get('/metrics/history_series')).status, 200, 'what is there can be read');
    await rm(filler);
    await until(async () => (await storage(app)).sqlite.error === null);
    t.ok((await storage(app)).sqlite.samples > samples);
  },
);

t.test('what is not kept is told only while samples are to be kept', async t => {
  const app = await startWith(t, { history_interval_sec: 0.5, storage: { sqlite_path: '/dev/null' } });
  const isTold = async (): Promise<boolean> =>
    String((await app.get('/health')).body.details).includes('samples of metrics are not kept: /dev/null');
  const save = (metrics: object) =>
    changeMainFile(app.configDir, ({ dumb, ...config }) => ({
      ...config,
      dumb: { ...dumb, metrics: { ...(dumb.metrics as object), ...metrics } },
    }));
  await until(isTold, { what: 'a place that cannot be used' });
  await save({ history_enabled: false, storage: { sqlite_path: path.join(app.configDir, 'metrics', 'm.sqlite') } });
  await until(async () => !(await isTold()), { what: 'nothing to be told' });
  t.match((await storage(app)).sqlite, { samples: 0, error: null });
  await save({ history_enabled: true });
  await until(async () => (await storage(app)).sqlite.samples > 2, { what: 'what waited to be written' });
});

t.test('another path starts a new file, and the old one stays', async t => {
  const app = await startWith(t, { history_interval_sec: 0.5 });
  await enough(app, 2);
  const place = path.join(app.configDir, 'other', 'history.sqlite');
  await mkdir(path.dirname(place), { mode: 0o700 });
  await changeMainFile(app.configDir, ({ dumb, ...config }) => ({
    ...config,
    dumb: { ...dumb, metrics: { ...(dumb.metrics as object), storage: { sqlite_path: place } } },
  }));
  await until(async () => {
    const { path: file, samples } = (await storage(app)).sqlite;
    return file === place && samples > 0;
  });
  t.ok((await readdir(path.join(app.configDir, 'metrics'))).includes('metrics.sqlite'));
  const reader = new Database(place, { readonly: true });
  t.equal(reader.pragma('page_size', { simple: true }), 16_384, 'large pages for large rows');
  t.equal(reader.pragma('auto_vacuum', { simple: true }), 2, 'and a file that can shrink');
  reader.close();
  await app.post('/config', { updates: { dumb: { metrics: { storage: { provider: 'postgresql' } } } } });
  t.match(await until(async () => ((await storage(app)).fallback_active ? storage(app) : undefined)), {
    configured_provider: 'postgresql',
    active_provider: 'sqlite',
    last_error: /SQLite/,
  });
});

t.test('a directory in place of the file is an error', async t => {
  const open = await startHost({ plugins: ['metrics-history', 'config', 'auth'], config: {} });
  t.teardown(() => open.stop());
  const updates = { dumb: { metrics: { storage: { sqlite_path: open.configDir } } } };
  t.equal((await open.post('/config', { updates })).status, 403, 'without a login nobody learns what is there');
  const app = await asOwner(open);
  const { path: before } = (await storage(app)).sqlite;
  const save = (file: string) =>
    app.post('/config', { updates: { dumb: { metrics: { storage: { sqlite_path: file } } } } });
  for (const directory of [app.configDir, `${app.configDir}/`, '/']) {
    const { status, body } = await save(directory);
    t.match([status, body.detail], [400, /^dumb\.metrics\.storage\.sqlite_path: .* is a directory; name a file in it/]);
  }
  t.equal((await storage(app)).sqlite.path, before);
  const file = path.join(app.configDir, 'metrics', 'other.sqlite');
  t.equal((await save(file)).status, 200);
  t.match((await storage(app)).sqlite, { path: file, error: null });
});

t.test(
  'a file on a mount that never answers keeps no thread of the host',
  { skip: !isRoot && 'only root may mount' },
  async t => {
    const place = path.join(testDir(t), 'dead');
    await mkdir(place);
    const server = spawn(process.execPath, [linkMount, place, '0', '0', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(async () => {
      server.kill('SIGKILL');
      await run('umount', ['--lazy', place]);
    });
    await once(server.stdout, 'data');
    const file = path.join(place, 'hang', 'm.sqlite');
    const app = await startWith(t, { history_interval_sec: 0.5, storage: { sqlite_path: file } });
    // There are four.
    for (let round = 0; round < 3; round += 1)
      t.match((await storage(app)).sqlite, {
        path: file,
        file_bytes: 0,
        error: /m\.sqlite does not answer; look after/,
      });
    t.equal((await app.get('/metrics/history')).status, 503);
    t.equal((await app.get('/metrics')).status, 200);
    t.ok((await readdir(app.configDir)).length > 0, 'files elsewhere can be read');
  },
);
