// The log routes of a real host: which names give which files, the live stream, and the level at run time.
import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { WebSocket } from 'ws';
import type { Host } from '../../../core/contract/host.ts';
import type { LogHub, LogLine } from '../../../core/contract/log.ts';
import type { StreamClient } from '../../../core/contract/stream.ts';
import { LogStream } from '../../../plugins/logs/log-stream.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

async function start(t: Test, config: Record<string, unknown> = {}) {
  const host = await startHost({ plugins: ['logs', 'services'], config });
  t.teardown(() => host.stop());
  const logs = (name: string, more = '') => host.get(`/logs?process_name=${encodeURIComponent(name)}${more}`);
  return { ...host, logs };
}

t.test('names of services give their log files, and nothing outside of their directories', async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-logs-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  await chmod(dir, 0o755);
  const at = (...parts: string[]) => path.join(dir, ...parts);
  for (const folder of ['app/logs', 'conf/logs', 'linked/logs', 'outside'])
    await mkdir(at(folder), { recursive: true });
  const text = (file: string, content: string) => writeFile(at(file), content);
  await text('plain.log', 'plain\n');
  await text('outside/secret.log', 'outside\n');
  await text('outside/secret.txt', 'outside\n');
  await text('access.log', 'access\n');
  await text('dbrepair.log', 'dbrepair\n');
  await text('app/logs/old.log', 'old\n');
  await text('app/logs/new.txt', 'new\n');
  await text('app/logs/newest.db', 'no log\n');
  await text('conf/logs/c.log', 'conf\n');
  await utimes(at('app/logs/old.log'), 1, 1);
  await symlink(at('outside/secret.log'), at('linked/leading-out.log'));
  await symlink('plain.log', at('current.log'));
  await symlink(at('outside/secret.txt'), at('linked/logs/x.log'));
  await symlink(at('nothing'), at('app/logs/dangling.log'));

  const block = (process_name: string, more: object) => ({ enabled: false, process_name, command: ['true'], ...more });
  const { logs, get } = await start(t, {
    dumb: { api_service: { file_roots: [dir] } },
    plain: block('Plain App', { log_file: at('plain.log') }),
    inside: block('Inside', { log_file: at('current.log') }),
    out: block('Out', { log_file: at('linked/leading-out.log') }),
    beside: block('Beside', { config_file: at('app/settings.json') }),
    conf: block('Conf', { config_dir: at('conf') }),
    linked: block('Linked', { config_dir: at('linked') }),
    device: block('Device', { log_file: '/dev/zero' }),
    none: block('None', {}),
    traefik: block('Traefik', { access_log_file: at('access.log') }),
    plex: block('Plex', { dbrepair: { log_file: at('dbrepair.log') } }),
  });

  for (const [name, processName, chunk] of [
    ['Plain App', 'Plain App', 'plain\n'],
    [' plain  app', 'Plain App', 'plain\n'],
    ['Inside', 'Inside', 'plain\n'],
    ['Beside', 'Beside', 'new\n'],
    ['Conf', 'Conf', 'conf\n'],
    ['traefik_access', 'traefik_access', 'access\n'],
    ['Plex DBRepair', 'Plex DBRepair', 'dbrepair\n'],
  ] as const) {
    const { status, body } = await logs(name);
    t.match(
      { status, body },
      { status: 200, body: { process_name: processName, chunk, log: chunk, reset: true } },
      name,
    );
  }
  t.match(await logs('Device'), {
    status: 403,
    body: { detail: /lies outside the directories of Device; keep its log/ },
  });
  for (const name of ['Out', 'Linked', 'None']) {
    const { status, body } = await logs(name);
    t.equal(status, 200);
    t.same(
      body,
      { process_name: name, size: 0, cursor: 0, chunk: '', reset: true, file_id: null, log: '' },
      `${name} shows nothing`,
    );
  }
  for (const name of ['DUMB', 'dmb', 'dumb_api', 'DUMB API service']) {
    t.match((await logs(name)).body.chunk, /^\w{3} \d+, \d{4} [\d:]+ - INFO - host: Stackwarden \S+ starts\n/, name);
  }

  const { body: first } = await logs('Plain App');
  await writeFile(at('plain.log'), 'more\n', { flag: 'a' });
  const { body: second } = await logs('Plain App', `&cursor=${first.cursor}&file_id=${first.file_id}`);
  t.match(second, { chunk: 'more\n', reset: false, size: 11, cursor: 11 });
  t.notOk('log' in second, 'no copy for those who know cursors');

  for (const name of ['Nobody', '../outside/secret.log', at('plain.log'), 'DUMBO', 'Plain App/../Out']) {
    const { status, body } = await logs(name);
    t.match({ status, body }, { status: 404, body: { detail: 'Process not found' } }, name);
  }
  t.match(await logs('  '), { status: 400, body: { detail: 'process_name is required' } });
  t.equal((await get('/logs')).status, 422);
  for (const bad of ['cursor=-1', 'cursor=x', 'tail_bytes=1023', 'tail_bytes=8388609', `file_id=${'a'.repeat(129)}`]) {
    t.equal((await logs('Plain App', `&${bad}`)).status, 422, bad);
  }
});

t.test("a page of the host's own log has all lines before the request", async t => {
  const { logs, host } = await start(t);
  for (let number = 1; number <= 20; number += 1) {
    host.log.error(`said as number ${number}.`);
    t.match((await logs('DUMB')).body.chunk, `said as number ${number}.`);
  }
});

t.test('the level can be changed at run time', async t => {
  const { get, post } = await start(t, { dumb: { log_level: 'WARNING', api_service: { log_level: 'ERROR' } } });
  const url = '/process/runtime-log-level';
  const configured = {
    configured_level: 'WARNING',
    configured_uvicorn_level: 'ERROR',
    effective_level: 'WARNING',
    debug_enabled: false,
    override_active: false,
    temporary: false,
    resets_on_restart: true,
  };
  const debug = { effective_level: 'DEBUG', debug_enabled: true, override_active: true, temporary: true };
  t.same((await get(url)).body, configured);
  t.same((await post(url, { debug_enabled: true })).body, { ...configured, ...debug });
  t.same((await get(url)).body, { ...configured, ...debug });
  for (const body of [{}, { debug_enabled: 'true' }, { debug_enabled: 1 }, { debug_enabled: false, more: 1 }]) {
    t.equal((await post(url, body)).status, 422, JSON.stringify(body));
  }
  t.same((await post(url, { debug_enabled: false })).body, configured);
});

t.test('the live stream sends new lines', async t => {
  const { ws, post } = await start(t);
  const received: string[] = [];
  const socket: WebSocket = ws('/ws/logs');
  t.teardown(() => socket.terminate());
  socket.on('message', data => received.push(String(data)));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.send('ping');
  socket.send('{"type":"ping"}');
  await until(() => received.filter(text => text === 'pong').length === 2);
  await post('/process/runtime-log-level', { debug_enabled: true });
  await until(() => received.some(text => text.includes('DEBUG - http: POST /process/runtime-log-level 200')));
  const lines = received.filter(text => text !== 'pong').flatMap(text => text.split('\n'));
  t.ok(
    lines.every(line => /^(.+?) - (\w+) - (?:(.+?) subprocess: )?(.*)$/.test(line)),
    'each line has a form that can be read',
  );
});

t.test('lines are sent in batches, and a slow client misses some', async t => {
  let listener: (records: readonly LogLine[]) => void = () => undefined;
  const tell = (texts: readonly string[]) => listener(texts.map(text => ({ at: 0, level: 'INFO', text })));
  let open: ((client: StreamClient) => unknown) | undefined;
  const abort = new AbortController();
  const host = {
    signal: abort.signal,
    stream: (stream: { open: (client: StreamClient) => unknown }) => {
      open = stream.open;
    },
  } as unknown as Host;
  const hub = {
    subscribe: (given: typeof listener) => {
      listener = given;
      return () => undefined;
    },
  } as unknown as LogHub;
  new LogStream(host, hub);
  const sent: string[] = [];
  const messages: (string | Buffer)[] = [];
  const send = (text: string | Buffer) => {
    sent.push(String(text));
    messages.push(text);
  };
  const client = { unsentBytes: 0, send };
  const close = open?.(client as unknown as StreamClient) as () => void;
  t.teardown(close);
  const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `line ${from + i}`);
  const all = () => sent.flatMap(text => text.split('\n')).map(line => line.replace(/^.+? - INFO - /, ''));

  tell(numbered(0, 3));
  t.equal(sent.length, 0, 'a few lines wait for more');
  await until(() => sent.length > 0);
  t.equal(sent.length, 1);
  t.same(all(), ['line 0', 'line 1', 'line 2']);

  tell(numbered(3, 12_003));
  await until(() => all().length === 12_003);
  t.same(all(), numbered(0, 12_003), 'a client that keeps up loses nothing');
  t.ok(sent.every(text => text.split('\n').length <= 200));

  sent.length = 0;
  client.unsentBytes = 2 * 1024 * 1024;
  for (let from = 0; from < 7_000; from += 100) tell(numbered(from, from + 100));
  client.unsentBytes = 0;
  await until(() => all().length === 5_001);
  t.match(all()[0], / - WARNING - logs: 2000 lines were dropped/);
  t.same(all().slice(1), numbered(2_000, 7_000), 'the oldest are gone');

  sent.length = 0;
  client.unsentBytes = 2 * 1024 * 1024;
  tell(Array.from({ length: 10 }, (_, i) => `${i}${'é'.repeat(256 * 1024 - 64)}`));
  client.unsentBytes = 0;
  await until(() => sent.length > 0);
  t.match(all()[0], / - WARNING - logs: 2 lines were dropped/, 'the limit counts bytes');
  t.match(all()[1], /^2/);

  await until(() => sent.length === 5);
  messages.length = 0;
  const others: (string | Buffer)[] = [];
  const other = { unsentBytes: 0, send: (text: string | Buffer) => others.push(text) };
  t.teardown(open?.(other as unknown as StreamClient) as () => void);
  tell(numbered(0, 1_000));
  await until(() => others.length === 5);
  t.ok(
    messages.every((message, index) => typeof message !== 'string' && message === others[index]),
    'all clients share the bytes of a message',
  );
});
