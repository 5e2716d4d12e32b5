// Configurations of earlier releases are migrated once, with a backup, and everything else in the file stays.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const skip = !existsSync(new URL('../../../plugins/config-migrations/index.ts', import.meta.url));
const plugins = ['config', 'process', 'services', 'config-migrations'];

const OLD = `{
    "nzbdav": { "process_name": "NzbDAV", "backend_port": 8081, "repo_owner": "nzbdav-dev", "repo_name": "nzbdav" },
    "decypharr": { "use_embedded_rclone": false },
    // by hand
    "bazarr": { "config_file": "/bazarr/config/config.yaml" },
    "mediastorm": { "process_name": "MediaStorm" },
    "huntarr": { "instances": { "Main": { "process_name": "Huntarr Main" } } },
    "sonarr": { "instances": {
        "Default": {
            // linked
            "use_huntarr": true, // to Main
            "core_service": "nzbdav"
        },
        "Kids": { "use_huntarr": true, "use_neutarr": false /* so far */, "port": 9000 },
        "Old": { "port": 9001 }
    } },
    "dumb": { "gateway": { "enabled": false } }
}
`;

t.test('an old configuration is migrated once', { skip }, async t => {
  const configDir = testDir(t, { 'stackwarden.json': OLD });
  const file = path.join(configDir, 'stackwarden.json');
  const app = await startHost({ configDir, plugins });
  const { body } = await app.get('/config');
  t.match(body.infinidysk, {
    process_name: 'NzbDAV',
    backend_port: 8_081,
    repo_owner: 'infinidysk',
    repo_name: 'infinidysk',
  });
  t.notOk('nzbdav' in body);
  t.match(body.decypharr, { mount_type: 'external_rclone' });
  t.equal(body.bazarr.config_file, '/bazarr/data/config/config.yaml');
  t.equal(body.mediastorm.process_name, 'mediastorm');
  t.same(Object.keys(body.neutarr.instances), ['Main']);
  t.same(body.dumb.config_migrations, [
    'nzbdav-to-infinidysk',
    'huntarr-to-neutarr',
    'bazarr-file',
    'decypharr-mount-type',
    'infinidysk-repository',
    'mediastorm-name',
    'use-neutarr',
  ]);
  const { Default, Kids, Old } = body.sonarr.instances;
  t.match([Default, Kids, Old], [{ use_neutarr: true }, { use_neutarr: true, port: 9_000 }, { use_neutarr: false }]);
  t.notOk('use_huntarr' in Default || 'use_huntarr' in Kids, 'the link is kept under its present name');
  const text = await readFile(file, 'utf8');
  t.match(text, '// by hand');
  t.match(
    text,
    /\/\/ linked\n +"use_neutarr": true, \/\/ to Main\n/,
    'a key that gets another name keeps its comments',
  );
  t.match(text, '{ "use_neutarr": true /* so far */, "port": 9000 }');
  t.equal(await readFile(`${file}.bak`, 'utf8'), OLD, 'the old file is kept');
  await app.stop();

  const again = await startHost({ configDir, plugins });
  t.teardown(() => again.stop());
  t.equal(await readFile(file, 'utf8'), text, 'a second start changes nothing');
});

t.test('remains of an earlier release are removed once', { skip }, async t => {
  const waits = '"wait_for_url": [{ "url": "http://127.0.0.1:8088/webdav" }]';
  const text = `{
  "pulsarr": { "port": 3103, "config_file": "/pulsarr/settings.json" },
  "altmount": {
    "port": 8188, // kept
    ${waits}
  }
}
`;
  const configDir = testDir(t, { 'stackwarden.json': text });
  const file = path.join(configDir, 'stackwarden.json');
  const app = await startHost({ configDir, plugins });
  const { altmount, pulsarr, dumb } = (await app.get('/config')).body;
  t.equal(altmount.wait_for_url, undefined);
  t.equal(pulsarr.config_file, undefined);
  t.match([altmount.port, pulsarr.port], [8_188, 3_103]);
  t.same(dumb.config_migrations, ['altmount-wait', 'pulsarr-file']);
  t.match(await readFile(file, 'utf8'), '// kept');
  await app.stop();

  await writeFile(file, (await readFile(file, 'utf8')).replace('8188', `8188, ${waits}`));
  const again = await startHost({ configDir, plugins });
  t.teardown(() => again.stop());
  t.match((await again.get('/config')).body.altmount.wait_for_url, [{ url: /webdav/ }], 'people may set it again');
});

t.test('a block under its old and its new name is left for a person to decide', { skip }, async t => {
  const configDir = testDir(t, {});
  const file = path.join(configDir, 'stackwarden.json');
  const both = '{"dumb":{"gateway":{"enabled":false}},"nzbdav":{"process_name":"A"},"infinidysk":{"process_name":"B"}}';
  await writeFile(file, both);
  const app = await startHost({ configDir, plugins: [...plugins, 'logs'] });
  t.teardown(() => app.stop());
  t.equal(await readFile(file, 'utf8'), both);
  const { chunk } = (await app.get('/logs?process_name=DUMB')).body;
  t.match(chunk, 'nzbdav is the former name of infinidysk, and the configuration has both; move', 'it is told');
  t.equal((await app.post('/config', { updates: { nzbdav: { port: 3 } } })).status, 200);
  t.match((await app.get('/config')).body, { nzbdav: { port: 3 } }, 'an update is of the block that is there');
  const refused = await app.post('/config', { updates: { nzbdav: { port: 1 }, infinidysk: { frontend_port: 2 } } });
  t.match(refused, { status: 409, body: { detail: /nzbdav is the former name of infinidysk/ } });
});

t.test('an update under a former key changes the present key', { skip }, async t => {
  const app = await startHost({ config: { infinidysk: { process_name: 'Mine' } }, plugins });
  t.teardown(() => app.stop());
  const answer = await app.post('/config', { updates: { nzbdav: { backend_port: 8_123 } } });
  t.match(answer, { status: 200, body: { keys: ['nzbdav'] } });
  const saved = JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));
  t.match(saved.infinidysk, { process_name: 'Mine', backend_port: 8_123 });
  t.notOk('nzbdav' in saved);
});

for (const [style, own] of [
  ['alone', ''],
  ['beside the present one', '  "dumb": {\n    "gateway": { "enabled": false }\n  },\n'],
] as const) {
  t.test(`the section of the host and the blocks in it, ${style}, in JSON`, { skip }, async t => {
    const text = `{
${own}  // all of it
  "dmb": {
    "log_level": "DEBUG",
    "api_service": {
      // mine
      "port": 1.0e0, // not asked
      "host": "127.0.0.1",
      "process_name": "DMB API"
    },
    "frontend": { "process_name": "DMB Frontend" /* named */ }
  },
  "nzbdav": {
    // inside
    "process_name": "NzbDAV"
  }
}
`;
    const configDir = testDir(t, { 'stackwarden.json': text });
    const env = { DMB_API_SERVICE_LOG_LEVEL: 'error' };
    const app = await startHost({ configDir, plugins, env });
    t.teardown(() => app.stop());
    const { dumb, ...rest } = (await app.get('/config')).body;
    t.notOk('dmb' in rest);
    t.match(dumb, { log_level: 'DEBUG', frontend: { process_name: 'DMB Frontend' } });
    t.match(dumb.api_service, { process_name: 'DMB API', log_level: 'ERROR' }, 'variables of the former name count');
    const saved = await readFile(path.join(configDir, 'stackwarden.json'), 'utf8');
    for (const kept of ['// mine', '"port": 1.0e0, // not asked', '"host": "127.0.0.1"', '/* named */', '// inside'])
      t.match(saved, kept, kept);
    if (own === '') t.match(saved, '// all of it');
    t.notMatch(saved, '"dmb"');
  });

  t.test(`the same in YAML, ${style}`, { skip }, async t => {
    const present = own === '' ? '' : 'dumb:\n  gateway:\n    enabled: false\n';
    const text = `${present}dmb: # all of it
  log_level: DEBUG
  api_service: # mine
    # asked
    port: 0x01 # not asked
    process_name: DMB API
nzbdav:
  # inside
  process_name: NzbDAV
`;
    const configDir = testDir(t, { 'stackwarden.yaml': text });
    const app = await startHost({ configDir, plugins });
    t.teardown(() => app.stop());
    t.match((await app.get('/config')).body, {
      dmb: undefined,
      dumb: { log_level: 'DEBUG', api_service: { process_name: 'DMB API' } },
    });
    const saved = await readFile(path.join(configDir, 'stackwarden.yaml'), 'utf8');
    for (const kept of ['# mine', '# asked', 'port: 0x01 # not asked', '# inside']) t.match(saved, kept, kept);
    t.notMatch(saved, 'dmb:');
  });
}

t.test('a block of the host under both names is left for a person to decide', { skip }, async t => {
  const both =
    '{"dumb":{"gateway":{"enabled":false},"frontend":{"port":3006}},"dmb":{"frontend":{"port":3007},"tags":[]}}';
  const configDir = testDir(t, { 'stackwarden.json': both });
  const app = await startHost({ configDir, plugins: [...plugins, 'logs'] });
  t.teardown(() => app.stop());
  const { body } = await app.get('/config');
  t.match(body, { dmb: { frontend: { port: 3_007 } }, dumb: { frontend: { port: 3_006 } } }, 'a person decides');
  const { chunk } = (await app.get('/logs?process_name=DUMB')).body;
  t.match(chunk, 'dmb.frontend is the former name of dumb.frontend, and the configuration has both; move');
});

t.test('an update of a host block under its former name changes the present block', { skip }, async t => {
  const app = await startHost({ config: {}, plugins });
  t.teardown(() => app.stop());
  const updates = { dmb: { frontend: { port: 3_009 } } };
  t.match(await app.post('/config', { updates }), { status: 200, body: { keys: ['dmb'] } });
  const { body } = await app.get('/config');
  t.match(body, { dumb: { frontend: { port: 3_009 } } });
  t.notOk('dmb' in body);
  const twice = await app.post('/config', { updates: { ...updates, dumb: { frontend: { port: 1 } } } });
  t.match(twice, { status: 409, body: { detail: /dmb.frontend is the former name of dumb.frontend/ } });
});

t.test('a configuration that is mended at run time is migrated before its services start', { skip }, async t => {
  const configDir = testDir(t, { 'stackwarden.json': '{ "nzbdav": ' });
  const file = path.join(configDir, 'stackwarden.json');
  const app = await startHost({ configDir, plugins });
  t.teardown(() => app.stop());
  const phase = async () => (await app.get('/process/startup-status')).body.phase;
  await until(async () => (await phase()) === 'degraded', { what: 'a start without a configuration' });
  const program = ['sh', '-c', 'echo "$0"; exec sleep 1000', 'runs'];
  const nzbdav = { enabled: true, process_name: 'NzbDAV', config_dir: configDir, command: program };
  await writeFile(file, JSON.stringify({ nzbdav, dumb: { startup: { stabilization_seconds: 0 } } }));
  const entry = async () =>
    (await app.get('/process/processes')).body.processes.find(
      (one: { process_name: string }) => one.process_name === 'NzbDAV',
    );
  await until(async () => (await entry())?.status === 'running', { what: 'the service' });
  t.equal((await entry()).config_key, 'infinidysk');
  const { body } = await app.get('/config');
  t.notOk('nzbdav' in body);
  t.same(body.dumb.config_migrations, ['nzbdav-to-infinidysk']);
  t.same(JSON.parse(await readFile(file, 'utf8')).infinidysk, nzbdav);
});
