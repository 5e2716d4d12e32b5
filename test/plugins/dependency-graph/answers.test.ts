// Answers beyond the worked cases: what they must not show, what they cost, and how things are named.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { edgesOf, keysOf, startGraph } from '../../support/graph.ts';
import { kid } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const skip = !existsSync(new URL('../../../plugins/dependency-graph/index.ts', import.meta.url));

t.test('no credential of a wait is shown, valid or not', { skip }, async t => {
  const waits = [
    ' http://me:SECRET-1@localhost:32400/x',
    'http://me:SECRET-2@localhost:99999/',
    'http://me:SECRET-3@localhost:{port}/',
    'webdav+http://me:SECRET-4@host/',
    '//me:SECRET-5@host/',
    'http://localhost:32400/#token=SECRET-6',
    'http://localhost/?token=SECRET-7',
    'me:SECRET-8@host/x',
    'http:\\\\me:SECRET-9@host',
    'ht\ntp://me:SECRET-10@host/',
    'http://me:SECRET-16?SECRET-17@host/',
    'http://me:SECRET-18/SECRET-19@host/',
    { url: 'http://me:SECRET-11@host/a@b', auth: { user: 'me', password: 'SECRET-12' }, headers: { a: 'SECRET-13' } },
    { url: 'http:me:SECRET-14@host/', service: 'Sonarr #2' },
  ];
  const { of } = await startGraph(t, {
    plex: { enabled: true, port: 32_400 },
    one: { process_name: 'One', wait_for_url: waits, wait_for_dir: ['/mnt/a@b #1', 'http://me:SECRET-15@host/'] },
  });
  const answer = await of('One');
  t.notMatch(JSON.stringify(answer), /SECRET/);
  const { config } = answer.processes.find((entry: { name: string }) => entry.name === 'One');
  t.equal(config.wait_for_url[0], 'http://localhost:32400/x');
  t.same(config.wait_for_url.slice(-2), [{ url: 'http://host/a@b' }, { url: 'http:host/', service: 'Sonarr #2' }]);
  t.same(config.wait_for_dir, ['/mnt/a@b #1', 'http://host/'], 'a directory stays as it is');
  t.same(edgesOf(answer), ['Plex Media Server -> One: wait_for_url']);
});

t.test('services are found by the names that people use', { skip }, async t => {
  const { of } = await startGraph(t, {
    riven_backend: { enabled: true },
    plex: { enabled: true },
    seerr: { instances: { Default: { enabled: true, process_name: 'Seerr', core_service: 'Plex Media Server' } } },
    rclone: { instances: { One: { process_name: 'Rclone', core_service: 'Riven', zurg_enabled: false } } },
  });
  const rows: { key: string }[] = (await of('Riven Backend')).dependency_rows;
  t.match(
    rows.find(row => row.key === 'rclone'),
    { process_count: 1, signals: ['core_service_map'] },
  );
  t.match(keysOf(await of('Seerr')), ['plex']);
});

t.test('an rclone whose zurg is missing still needs it', { skip }, async t => {
  const { of } = await startGraph(t, {
    rclone: { instances: { One: { process_name: 'Rclone', zurg_enabled: true } } },
  });
  t.equal((await of('Rclone')).context.mode, 'core');
});

t.test('instances with the same default file are told apart by their core service', { skip }, async t => {
  const { of } = await startGraph(t, {
    zurg: {
      instances: {
        Riven: { process_name: 'Zurg w/ Riven', core_service: 'riven_backend' },
        CLID: { process_name: 'Zurg w/ CLID', core_service: 'cli_debrid' },
      },
    },
    rclone: {
      instances: { Riven: { process_name: 'Rclone', core_service: 'riven_backend', zurg_enabled: true } },
    },
  });
  t.notMatch(edgesOf(await of('Rclone')).join('\n'), 'Zurg w/ CLID');
  t.ok(edgesOf(await of('Rclone')).includes('Zurg w/ Riven -> Rclone: conditional_startup_map rclone_provider_zurg'));
});

t.test('a cycle names its members', { skip }, async t => {
  const sonarr = (name: string, more: object = {}) => ({ enabled: true, process_name: name, ...more });
  const { of } = await startGraph(t, {
    prowlarr: { instances: { P: { enabled: true, process_name: 'Prowlarr P' } } },
    sonarr: {
      instances: { A: sonarr('Sonarr A', { wait_for_url: { service: 'Prowlarr P' } }), B: sonarr('Sonarr B') },
    },
  });
  t.same((await of('Prowlarr P')).cycles, [['Sonarr A', 'Prowlarr P']]);
});

t.test('the file of a service is read when it changes, not for a request', { skip }, async t => {
  const settings = '<Config>\n  <Port>8989</Port>\n</Config>\n';
  const postgres = ['Host', 'MainDb', 'LogDb'].map(name => `  <Postgres${name}>x</Postgres${name}>\n`).join('');
  const dir = testDir(t, { sonarr: { 'config.xml': settings } });
  const file = path.join(dir, 'sonarr/config.xml');
  const sonarr = {
    enabled: true,
    process_name: 'Sonarr',
    command: 'sleep 600',
    // This service never starts, because each start would read the file too.
    wait_for_dir: path.join(dir, 'never'),
    config_dir: path.join(dir, 'sonarr'),
    config_file: file,
  };
  const { app, of } = await startGraph(t, {
    data_root: dir,
    postgres: { enabled: false },
    sonarr: { instances: { Default: sonarr } },
  });
  const needs = async () => keysOf(await of('Sonarr')).includes('postgres');
  t.notOk(await needs());
  await writeFile(file, settings.replace('</Config>', `${postgres}</Config>`));
  t.notOk(await needs(), 'the question itself looks at nothing');
  await app.post('/config', { updates: { dumb: { log_count: 3 } }, persist: false });
  await until(needs, { what: 'the look after the change' });

  const saved = await app.post('/config/service-config', {
    service_name: 'Sonarr',
    updates: { Config: { PostgresHost: '' } },
  });
  t.match(saved, { status: 200, body: { changed: 1 } });
  t.notOk(await needs());
});

t.test('a cached answer changes with the status of a process', { skip }, async t => {
  const { app, of } = await startGraph(t, {
    one: kid('One', ['calm']),
    two: { ...kid('Two', ['calm']), enabled: false },
  });
  const statuses = async (): Promise<unknown> => (await of('Two')).statuses;
  t.match(await statuses(), { Two: 'stopped' });
  t.equal((await app.post('/process/start-service', { process_name: 'Two' })).status, 200);
  t.match(await statuses(), { Two: 'running' });
  t.equal((await app.post('/process/stop-service', { process_name: 'Two' })).status, 200);
  t.match(await statuses(), { Two: 'stopped' });
  t.equal((await app.post('/config', { updates: { two: { wait_for_url: ['http://127.0.0.1:1/'] } } })).status, 200);
  t.same((await of('Two')).processes.find((entry: { name: string }) => entry.name === 'Two').config.wait_for_url, [
    'http://127.0.0.1:1/',
  ]);
});
