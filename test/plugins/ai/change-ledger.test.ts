// The ledger of changes: configuration changes, and starts, stops, updates and removals of services, are written
// without secrets. The file may be one of an earlier program, and a fault of it stops nothing else.
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import * as statements from '../../../plugins/ai/ledger/ledger-statements.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { kid, restart, start, status, stop } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const skip = process.getuid?.() === 0 ? false : 'only root may mount';
const SECRET = 'x7Kq2vN9pLw4';
const PLUGINS = ['config', 'config-files', 'format-json', 'process', 'auto-restart', 'health-probe', 'ai', 'ai-ollama'];
/** Emits events of updates, like the plugin that installs them, when `dumb.log_count` changes. */
const UPDATER = `export default { name: 'updater', host: '^1', setup(host) {
  for (const type of ['update.succeeded', 'update.failed']) host.event(type, { description: 'of a test' });
  host.tap('config.changed', ({ paths }) => {
    if (!paths.includes('dumb.log_count')) return;
    host.emit('update.succeeded', { processName: 'App', previousVersion: '1.0', currentVersion: '1.1' });
    host.emit('update.failed', { processName: 'App', operation: 'check', reason: 'nobody answers' });
    host.emit('update.failed', { processName: 'App', operation: 'install', reason: 'it did not start' });
  });
} }`;
/** Restarts the service App by the trigger in the path, and stops and starts it again in the course of its own work. */
const UPKEEP = `export default { name: 'upkeep', host: '^1', needs: ['process'], setup(host) {
  host.route({ method: 'POST', path: '/upkeep/{trigger}', summary: 'x', async handle({ params: { trigger } }) {
    const supervisor = host.use('process.supervisor');
    if (trigger !== 'hold') await supervisor.restart('App', trigger);
    else await supervisor.hold('App', 'it is cared for', async held => { await held.stop(); await held.start(); });
    return {};
  } });
} }`;
const EARLIER = `
  CREATE TABLE diagnostic_events (id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, process_name TEXT,
    event_type TEXT NOT NULL, source TEXT NOT NULL, actor TEXT, summary TEXT NOT NULL, details_json TEXT NOT NULL);
  CREATE INDEX ix_diagnostic_events_process_at ON diagnostic_events (process_name, at);
  INSERT INTO diagnostic_events VALUES (7, 1.5, 'App', 'update_install', 'operator_action', NULL, 'of before', 'no json');`;

interface Row {
  readonly event_type: string;
  readonly source: string;
  readonly process_name: string | null;
  readonly actor: string | null;
  readonly summary: string;
  readonly details_json: string;
}

function rowsOf(file: string): Row[] {
  try {
    const db = new Database(file, { readonly: true });
    const rows = db.prepare('SELECT * FROM diagnostic_events ORDER BY id').all() as Row[];
    db.close();
    return rows;
  } catch {
    return [];
  }
}

t.test('changes of the configuration and of services are recorded', async t => {
  const place = testDir(t, { plugins: { updater: { 'index.js': UPDATER } }, config: {} });
  const configDir = path.join(place, 'config');
  const directory = path.join(configDir, 'ai-diagnostics');
  const file = path.join(directory, 'events.sqlite');
  await mkdir(directory, { mode: 0o700 });
  const earlier = new Database(file);
  earlier.exec(EARLIER);
  earlier.close();
  const settings = path.join(configDir, 'app', 'settings.json');
  await mkdir(path.dirname(settings));
  await writeFile(settings, JSON.stringify({ port: 8_000, api: { key: 'k', secret: 'of-before-it-was' } }));
  const files = { config_dir: path.dirname(settings), config_file: settings };
  const block = { ...kid('App', ['calm']), ...files, enabled: false, env: { API_KEY: 'the-key-of-before' } };
  const app = await startHost({
    configDir,
    pluginDirs: [pluginsDir, path.join(place, 'plugins')],
    plugins: [...PLUGINS, 'updater'],
    config: { app: block, dumb: { ai: { provider: 'ollama' } } },
  });
  t.teardown(() => app.stop());
  const seen = (test: (row: Row) => boolean): Promise<Row> => until(() => rowsOf(file).find(test));

  await app.post('/config', { updates: { dumb: { log_count: 3 } }, persist: true });
  const global = await seen(({ summary }) => summary.includes('dumb.log_count'));
  t.match(global, { event_type: 'config_change', source: 'dumb_config', process_name: null, actor: null });
  t.match(JSON.parse(global.details_json), {
    changes: [{ path: 'dumb.log_count', after: 3 }],
    truncated: false,
    total_changes: 1,
    persisted: true,
  });

  await seen(({ details_json: details }) => details.includes('it did not start'));
  t.match(
    rowsOf(file).filter(({ summary, event_type: type }) => type === 'update_install' && summary !== 'of before'),
    [
      { process_name: 'App', source: 'maintenance', details_json: /"success".*"1\.0".*"1\.1"/ },
      { process_name: 'App', source: 'maintenance', details_json: /"failed"/ },
    ],
    'a look for updates that fails is no update',
  );

  const updates = { env: { API_KEY: SECRET, MODE: 'fast', OPTIONS: `--password=${SECRET}` } };
  await app.post('/config', { process_name: 'App', updates, persist: true });
  const changed = await seen(({ summary }) => summary.includes('env.API_KEY'));
  t.match(changed, { process_name: 'App', source: 'dumb_config' });
  t.same(JSON.parse(changed.details_json).changes, [
    { path: 'app.env.API_KEY', before: '[REDACTED]', after: '[REDACTED]' },
    { path: 'app.env.MODE', after: 'fast' },
    { path: 'app.env.OPTIONS', after: '--password=[REDACTED]' },
  ]);

  await app.request('PUT', '/ai/settings', { json: { model: 'a-model', api_key: SECRET } });
  t.match(await seen(({ source }) => source === 'ai_settings'), { event_type: 'config_change', process_name: null });
  await app.post('/ai/profiles', { name: 'One', provider: 'ollama', api_key: SECRET });
  await seen(({ source }) => source === 'ai_provider_profile_save');

  const changedFile = { service_name: 'App', updates: { port: 8_080, api: { key: 'k', secret: SECRET } } };
  t.equal((await app.post('/config/service-config', changedFile)).status, 200);
  const ofFile = await seen(({ source }) => source === 'service_config_file');
  t.match(ofFile, { process_name: 'App', event_type: 'config_change', summary: /: port, api\.secret/ });
  t.match(JSON.parse(ofFile.details_json).changes, [
    { path: 'port', before: 8_000, after: 8_080 },
    { path: 'api.secret', before: '[REDACTED]', after: '[REDACTED]' },
  ]);

  await start(app, 'App');
  t.match(await seen(({ event_type: type }) => type === 'service_start'), {
    process_name: 'App',
    source: 'operator_action',
    details_json: /"outcome":"success"/,
  });
  await stop(app, 'App');
  await seen(({ event_type: type }) => type === 'service_stop');

  const text = await readFile(path.join(configDir, 'stackwarden.json'), 'utf8');
  await writeFile(path.join(configDir, 'stackwarden.json'), text.replace(/"log_count": *3/, '"log_count": 4321'));
  t.match(JSON.parse((await seen(({ details_json: details }) => details.includes('4321'))).details_json), {
    origin: 'file',
  });

  const { app: _, ...others } = JSON.parse(await readFile(path.join(configDir, 'stackwarden.json'), 'utf8'));
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify(others));
  t.match(await seen(({ event_type: type }) => type === 'service_removed'), {
    process_name: 'App',
    source: 'operator_action',
    actor: null,
  });

  t.equal(rowsOf(file)[0]?.summary, 'of before', 'an earlier file is gone on with');
  const parts = await Promise.all((await readdir(directory)).map(name => readFile(path.join(directory, name))));
  for (const part of parts) t.notOk(part.includes(SECRET) || part.includes('the-key-of-before'));
  t.equal((await stat(directory)).mode & 0o777, 0o700);
  t.equal((await stat(file)).mode & 0o777, 0o600);
});

t.test('what the host does by itself at its start and end is no act of an operator', async t => {
  const configDir = testDir(t);
  const file = path.join(configDir, 'ai-diagnostics', 'events.sqlite');
  const broken = { process_name: 'Broken', command: ['sh', '-c', 'exit 3'], enabled: true };
  const app = await startHost({
    configDir,
    plugins: PLUGINS,
    config: { app: { ...kid('App', ['calm']), enabled: true }, broken },
  });
  t.teardown(() => app.stop());

  const failed = await until(() => rowsOf(file).find(({ process_name: name }) => name === 'Broken'));
  t.match(failed, { event_type: 'service_start', source: 'boot', details_json: /"outcome":"failed","trigger":"boot"/ });
  t.equal((await app.post('/process/start-service', { process_name: 'Broken' })).status, 500);
  await until(() => rowsOf(file).find(({ source }) => source === 'operator_action'));

  await app.stop();
  t.same(
    rowsOf(file).map(({ process_name: name, event_type: type, source }) => [name, type, source]),
    [
      ['Broken', 'service_start', 'boot'],
      ['Broken', 'service_start', 'operator_action'],
      ['App', 'service_stop', 'shutdown'],
    ],
  );
});

t.test('a restart is one row, and a stop has the source of who asked for it', async t => {
  const place = testDir(t, { plugins: { upkeep: { 'index.js': UPKEEP } }, config: {} });
  const configDir = path.join(place, 'config');
  const file = path.join(configDir, 'ai-diagnostics', 'events.sqlite');
  const app = await startHost({
    configDir,
    pluginDirs: [pluginsDir, path.join(place, 'plugins')],
    plugins: [...PLUGINS, 'groups', 'upkeep'],
    config: { app: { ...kid('App', ['calm']), enabled: true, groups: ['all'] } },
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'App')).status === 'running');
  await restart(app, 'App');
  await app.post('/process/restart-group', { group: 'all' });
  for (const trigger of ['auto-restart', 'schedule']) await app.post(`/upkeep/${trigger}`, {});
  await app.post('/upkeep/hold', {});
  await stop(app, 'App');
  await restart(app, 'App');
  await app.post('/config', { process_name: 'App', updates: { command: ['sh', '-c', 'exit 3'] } });
  await restart(app, 'App');

  const rows = await until(() => {
    const found = rowsOf(file).filter(({ event_type: type }) => type.startsWith('service_'));
    return found.length >= 9 ? found : undefined;
  });
  t.same(
    rows.map(({ event_type: type, source, summary }) => [type, source, summary]),
    [
      ['service_restart', 'operator_action', 'App was restarted'],
      ['service_restart', 'operator_action', 'App was restarted'],
      ['service_restart', 'auto_restart', 'App was restarted'],
      ['service_restart', 'schedule', 'App was restarted'],
      ['service_stop', 'maintenance', 'App was stopped'],
      ['service_start', 'maintenance', 'App was started'],
      ['service_stop', 'operator_action', 'App was stopped'],
      ['service_restart', 'operator_action', 'App was restarted'],
      ['service_restart', 'operator_action', 'App could not be restarted'],
    ],
  );
});

t.test('stops of services by a stop of the host are recorded before the file is closed', async t => {
  const names = ['One', 'Two', 'Three', 'Four'];
  const blocks = names.map(name => [name.toLowerCase(), kid(name, ['calm'], { enabled: true })]);
  const configDir = testDir(t, {});
  const app = await startHost({ configDir, plugins: PLUGINS, config: Object.fromEntries(blocks) });
  await until(async () => (await app.get('/process/startup-status')).body.services.Four?.state !== 'pending');
  for (const name of names) await start(app, name);
  await app.stop();
  const rows = rowsOf(path.join(configDir, 'ai-diagnostics', 'events.sqlite'));
  const stopped = rows.flatMap(row => (row.event_type === 'service_stop' ? [row.process_name] : []));
  t.same(stopped.sort(), [...names].sort());
  t.notMatch((await ownLog(app)).join('\n'), /kept for diagnoses/);
});

t.test('a value that a schema marks as secret is not written', async t => {
  const configDir = testDir(t);
  const directory = path.join(configDir, 'ai-diagnostics');
  const file = path.join(directory, 'events.sqlite');
  const plugins = [...PLUGINS, 'notifications', 'notify-webhook', 'notify-gotify'];
  const kept = { id: 'c', name: 'Kept', url: `gotify://host/${SECRET}` };
  const app = await startHost({ configDir, plugins, config: { dumb: { notifications: { destinations: [kept] } } } });
  t.teardown(() => app.stop());
  const destinations = [
    { id: 'a', name: 'Hook', provider: 'webhook', url: `http://host/${SECRET}`, headers: { 'X-Of': SECRET } },
    { id: 'b', name: 'Bell', url: `gotify://host/${SECRET}` },
  ];
  for (const config of [{ destinations }, { destinations: destinations.slice(1) }, { destinations: [] }]) {
    const rows = rowsOf(file).length + 1;
    t.equal((await app.post('/notifications/config', { config })).status, 200);
    await until(() => rowsOf(file).length >= rows, { what: 'the row of the change' });
  }
  const changes = rowsOf(file).map(({ details_json: details }) => JSON.parse(details).changes[0]);
  t.match(changes, [
    { path: 'dumb.notifications.destinations', before: /"name":"Kept"/, after: /"name":"Hook".*"name":"Bell"/ },
    { before: /"name":"Hook".*"name":"Bell"/, after: /"name":"Bell"/ },
    { before: /"name":"Bell"/, after: '[]' },
  ]);
  const parts = await Promise.all((await readdir(directory)).map(name => readFile(path.join(directory, name))));
  for (const part of parts) t.notOk(part.includes(SECRET) || part.includes('X-Of'));
});

t.test('an unusable ledger prevents no change', async t => {
  const configDir = testDir(t);
  await mkdir(path.join(configDir, 'ai-diagnostics'));
  await chmod(path.join(configDir, 'ai-diagnostics'), 0o777);
  await mkdir(path.join(configDir, 'ai-diagnostics', 'events.sqlite'));
  const app = await startHost({
    configDir,
    plugins: PLUGINS,
    config: { app: { ...kid('App', ['calm']), enabled: false } },
  });
  t.teardown(() => app.stop());
  t.equal((await app.post('/config', { updates: { dumb: { log_count: 3 } }, persist: true })).status, 200);
  t.equal((await start(app, 'App')).status, 200);
});

t.test('a full disk is logged once, and changes are recorded again when there is room', { skip }, async t => {
  const configDir = testDir(t);
  const disk = path.join(configDir, 'ai-diagnostics');
  await mkdir(disk, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', disk]);
  t.teardown(() => execFileSync('umount', ['--lazy', disk]));
  const filler = path.join(disk, 'filler');
  await writeFile(filler, Buffer.alloc(1_024 * 1_024)).catch(() => undefined);
  const app = await startHost({ configDir, plugins: PLUGINS });
  t.teardown(() => app.stop());
  const told = async (message: RegExp) => (await ownLog(app)).filter(line => message.test(line));
  const save = (log_count: number) => app.post('/config', { updates: { dumb: { log_count } }, persist: true });
  for (const count of [3, 4, 5]) t.equal((await save(count)).status, 200);
  const lost = await until(async () => {
    const lines = await told(/WARNING - ai: changes are not kept for diagnoses .*events\.sqlite cannot grow/);
    return lines.length > 0 ? lines : undefined;
  });
  t.equal(lost.length, 1);
  await rm(filler);
  let count = 6;
  await until(async () => {
    count += 1;
    await save(count);
    return (await told(/INFO - ai: changes are kept for diagnoses again, without \d/)).length > 0;
  });
  t.not(rowsOf(path.join(disk, 'events.sqlite')).length, 0);
});

t.test('old and surplus changes are removed, and a process also gets global ones', async t => {
  const db = new Database(':memory:') as unknown as Parameters<typeof statements.add>[0];
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  const now = 1_800_000_000;
  const row = (at: number, name: string | null) => ({
    at,
    process_name: name,
    event_type: 'config_change',
    source: 'dumb_config',
    actor: null,
    summary: String(at),
    details_json: '{}',
  });
  statements.add(db, row(now - 181 * 86_400, null));
  for (let index = 0; index < 20_003; index += 1)
    statements.add(db, row(now - 30_000 + index, ['A', 'B', null][index % 3] ?? null));
  t.equal(statements.prune(db, { now }), 4);
  t.equal(statements.prune(db, { now }), 0);
  const query = { processName: 'A', from: 0, before: now, limit: 5, eventType: null };
  const listed = statements.list(db, query);
  t.same([...new Set(listed.map(({ process_name: name }) => name))].sort(), ['A', null]);
  t.ok(
    listed.every(({ at }, index) => index === 0 || at <= (listed[index - 1]?.at ?? 0)),
    'the newest first',
  );
  t.same(statements.list(db, { ...query, eventType: 'service_stop' }), []);
});
