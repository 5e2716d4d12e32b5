// What a merge may not remove, and a configuration file that vanishes or is repaired while the host runs.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const sleeper = (name: string, enabled: boolean) => ({ enabled, process_name: name, command: ['sleep', '1000'] });

t.test('a merge may remove instances and members, but no sections, names or blocks', async t => {
  const app = await startHost({
    plugins: ['config', 'process'],
    config: {
      awake: sleeper('Awake', true),
      idle: sleeper('Idle', false),
      twins: { instances: { One: sleeper('Twin One', false), Two: sleeper('Twin Two', true) } },
      resting: { instances: { Three: sleeper('Three', false) } },
    },
  });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const before = await readFile(file, 'utf8');
  const update = (updates: unknown) => app.post('/config', { updates });
  const running = async (name: string) =>
    (await app.get(`/process/service-status?process_name=${name}`)).body.status === 'running';
  await until(async () => (await running('Awake')) && (await running('Twin Two')));

  const refused: readonly [unknown, number, RegExp][] = [
    [{ dumb: null }, 400, /dumb is a section and stays/],
    [{ dumb: { api_service: null } }, 400, /dumb.api_service is a section and stays/],
    [{ idle: { process_name: null } }, 400, /name of Idle cannot be changed or removed here/],
    [{ idle: { process_name: 'Other' } }, 400, /name of Idle cannot be changed/],
    [{ idle: null }, 400, /Idle cannot be removed here; set its enabled to false/],
    [{ idle: 5 }, 400, /Idle cannot be removed here/],
    [{ awake: { process_name: 'Other' } }, 409, /Awake is running; stop it/],
    [{ awake: { process_name: null } }, 409, /Awake is running/],
    [{ awake: null }, 409, /Awake is running/],
    [{ twins: null }, 409, /Twin Two is running/],
    [{ twins: { instances: { Two: null } } }, 409, /Twin Two is running/],
    [{ resting: null }, 400, /Three cannot be removed here/],
    [{ resting: { instances: null } }, 400, /Three cannot be removed here/],
  ];
  for (const [updates, status, detail] of refused) {
    t.match(await update(updates), { status, body: { detail } }, JSON.stringify(updates));
  }
  for (const process_name of [null, 'Other', 'idle'])
    for (const persist of [true, false])
      t.match(await app.post('/config', { process_name: 'Idle', updates: { process_name }, persist }), {
        status: 400,
        body: { detail: /^the name of Idle cannot be .*; stop it and change process_name in .*stackwarden\.json$/ },
      });
  t.equal(await readFile(file, 'utf8'), before, 'nothing was written');
  t.ok(await running('Awake'));

  for (const updates of [
    { idle: {} },
    { nosuch: null },
    { dumb: { api_service: { log_level: null } } },
    { idle: { port: null } },
  ]) {
    t.match(await update(updates), { status: 200, body: { changed: [] } }, JSON.stringify(updates));
  }
  const ofIdle = { process_name: 'Idle', updates: { nosuch: null, port: null }, persist: true };
  t.match(await app.post('/config', ofIdle), { status: 200, body: { changed: [] } }, 'nor of one process');
  const unknown = { process_name: 'Idle', updates: { nosuch: 1 } };
  t.match(await app.post('/config', unknown), {
    status: 400,
    body: { detail: /'nosuch' is not a key of Idle; GET \/config\/schema lists/ },
  });
  t.same(JSON.parse(await readFile(file, 'utf8')), JSON.parse(before));
  t.equal((await update({ twins: { instances: { One: null } } })).status, 200);
  t.notMatch(await readFile(file, 'utf8'), /Twin One/);
});

t.test('processes inside another block cannot be removed by replacing its members', async t => {
  const inner = { side: sleeper('Side', false), instances: { One: sleeper('One', false), Two: sleeper('Two', false) } };
  const app = await startHost({
    plugins: ['config', 'process'],
    config: { outer: { ...sleeper('Outer', false), ...inner } },
  });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const before = await readFile(file, 'utf8');
  const { side, instances } = inner;
  const save = (updates: unknown, persist = true) => app.post('/config', { process_name: 'Outer', updates, persist });
  const refused: readonly [unknown, RegExp][] = [
    [{ side: null }, /^Side cannot be removed here; set its enabled to false, or stop it and remove its block/],
    [{ side: 5 }, /^Side cannot be removed here/],
    [{ side: { enabled: false } }, /^the name of Side cannot be changed or removed here; stop it and change/],
    [{ side: { ...side, process_name: 'Other' } }, /^the name of Side cannot be changed/],
    [{ instances: { ...instances, Two: sleeper('Other', false) } }, /^the name of Two cannot be changed/],
  ];
  for (const [updates, detail] of refused)
    for (const persist of [true, false])
      t.match(await save(updates, persist), { status: 400, body: { detail } }, JSON.stringify(updates));
  t.equal(await readFile(file, 'utf8'), before, 'nothing was written');
  const changed = { side: { ...side, port: 9 }, instances: { One: instances.One } };
  t.match(await save(changed), { status: 200 }, 'what keeps its name may be changed, and an instance may go');
  const { outer } = JSON.parse(await readFile(file, 'utf8')) as { outer: object };
  t.same(outer, { ...sleeper('Outer', false), ...changed });
});

t.test('a block outside of the file stays, and the message does not mention the file', async t => {
  const app = await startHost({ plugins: ['config', 'process', 'services'], config: {} });
  t.teardown(() => app.stop());
  const idle = sleeper('Idle', false);
  t.match(await app.post('/config', { updates: { idle }, persist: false }), { status: 200 });
  const refused: readonly [unknown, RegExp][] = [
    [
      { idle: null },
      /^Idle cannot be removed here; set its enabled to false: it is in memory alone, until the next start$/,
    ],
    [
      { idle: { process_name: 'Other' } },
      /^the name of Idle .*; add its block under another key: this one is in memory/,
    ],
    [
      { plex: null },
      /^Plex Media Server cannot be removed here; set its enabled to false: its block comes from a plugin/,
    ],
  ];
  for (const [updates, detail] of refused)
    for (const persist of [true, false])
      t.match(await app.post('/config', { updates, persist }), { status: 400, body: { detail } });
  const ofIdle = { process_name: 'Idle', updates: { process_name: 'Other' } };
  t.match(await app.post('/config', ofIdle), { status: 400, body: { detail: /this one is in memory/ } });
});

t.test('a removal in memory restores the default, and a default cannot be removed', async t => {
  process.env.DUMB_LOG_COUNT = '7';
  t.teardown(() => delete process.env.DUMB_LOG_COUNT);
  const app = await startHost({
    plugins: ['config', 'process'],
    config: {
      dumb: { log_name: 'OTHER', log_count: 3 },
      twins: { instances: { One: sleeper('Twin One', false), Two: sleeper('Twin Two', false) } },
    },
  });
  t.teardown(() => app.stop());
  const update = (updates: unknown) => app.post('/config', { updates, persist: false });
  const dumb = async () => (await app.get('/config')).body.dumb;

  for (const member of ['log_level', 'log_size', 'log_count'])
    t.match(await update({ dumb: { [member]: null } }), { status: 200, body: { changed: [] } }, member);
  t.match(await dumb(), { log_level: 'INFO', log_size: '10M', log_count: 7 }, 'the environment stands above defaults');
  t.match(await update({ dumb: { log_name: null } }), { status: 200, body: { changed: ['dumb.log_name'] } });
  t.match(await dumb(), { log_name: 'DUMB' });
  t.match(await update({ dumb: { api_service: { docs_enabled: null, port: null } } }), { body: { changed: [] } });
  t.match(await dumb(), { api_service: { port: 8_000 } });

  t.match(await update({ twins: { instances: { One: null } } }), { body: { changed: ['twins.instances.One'] } });
  t.same(Object.keys((await app.get('/config')).body.twins.instances), ['Two'], 'an instance goes as a whole');
});

t.test('the next save writes a vanished file as a whole', async t => {
  const app = await startHost({ plugins: ['config', 'logs'], config: { tz: 'first', idle: sleeper('Idle', false) } });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const before = JSON.parse(await readFile(file, 'utf8'));
  const log = async () => (await app.get('/logs?process_name=DUMB')).body.chunk as string;
  const save = (tz: unknown) => app.post('/config', { updates: { tz } });
  const warnings = [/json had vanished; it was written again whole, as it was last known$/];
  await rm(file);
  t.equal((await save(5)).status, 400);
  t.match(await save('second'), { status: 200, body: { warnings } });
  t.same(JSON.parse(await readFile(file, 'utf8')), { ...before, tz: 'second' });
  await until(async () => (await log()).split('json had vanished').length === 2);
  await rm(file);
  t.match(await save('second'), { status: 200, body: { warnings } });
  t.same(JSON.parse(await readFile(file, 'utf8')), { ...before, tz: 'second' }, 'also when the save changes nothing');
  t.strictSame((await save('third')).body.warnings, [], 'told once');
});

t.test('a YAML file that must be reformatted is backed up, and the answer says so', async t => {
  const text = 'tz:   first # mine\ndumb:\n    log_level: !!str &level INFO\n';
  const configDir = testDir(t, { 'stackwarden.yaml': text });
  const app = await startHost({ plugins: ['config', 'logs'], configDir });
  t.teardown(() => app.stop());
  const file = path.join(configDir, 'stackwarden.yaml');
  const save = (updates: unknown) => app.post('/config', { updates });
  t.strictSame((await save({ tz: 'second' })).body.warnings, [], 'a change within the lines is nothing to tell');
  const before = await readFile(file, 'utf8');
  t.equal(before, text.replace('first', 'second'));
  const warnings = [/yaml was laid out anew.*; what it was before is in stackwarden\.yaml\.bak$/];
  t.match(await save({ dumb: { log_level: 'DEBUG' } }), { status: 200, body: { warnings } });
  t.equal(await readFile(`${file}.bak`, 'utf8'), before);
  t.strictSame((await save({ dumb: { log_level: 'ERROR' } })).body.warnings, [], 'once');
  t.match(await save({ dumb: { log_count: 3 } }), { status: 200, body: { warnings: [] } });
  t.equal(await readFile(`${file}.bak`, 'utf8'), before, 'the copy is not pushed out by what looks the same');
});

for (const name of ['stackwarden.json', 'stackwarden.yaml'])
  t.test(`${name} in another encoding is not used, and no byte of it changes`, async t => {
    const written = (tz: string): string =>
      name.endsWith('json')
        ? `{\n  "tz": "${tz}", // Gr\u00FC\u00DFe\n  "dumb": { "log_count": 4 }\n}\n`
        : `# Gr\u00FC\u00DFe\ntz: ${tz}\ndumb:\n  log_count: 4\n`;
    const configDir = testDir(t, { [name]: written('first') });
    const app = await startHost({ plugins: ['config', 'health'], configDir });
    t.teardown(() => app.stop());
    const file = path.join(configDir, name);
    const foreign = Buffer.from(written('second'), 'latin1');
    await writeFile(file, foreign);
    const reason = /:[12]:\d+: this is not UTF-8; save the file in that encoding/;
    t.match(await app.post('/config', { updates: { dumb: { log_count: 5 } } }), {
      status: 409,
      body: { detail: reason },
    });
    t.match((await app.get('/config')).body, { tz: 'first', dumb: { log_count: 4 } });
    t.ok((await readFile(file)).equals(foreign));
    await writeFile(file, written('third'));
    await until(async () => (await app.get('/config')).body.tz === 'third');
    t.equal((await app.post('/config', { updates: { dumb: { log_count: 5 } } })).status, 200);
    t.equal(await readFile(file, 'utf8'), written('third').replace('4', '5'));
  });

t.test('something else in place of the file is reported when it is seen, and by each save', async t => {
  const app = await startHost({ plugins: ['config', 'logs'], config: { tz: 'first' } });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const text = await readFile(file, 'utf8');
  const log = async () => (await app.get('/logs?process_name=DUMB')).body.chunk as string;
  await rm(file);
  await mkdir(file);
  await until(async () =>
    /cannot be read any more, and nothing is saved: .*no regular file; replace it/.test(await log()),
  );
  const refused = {
    status: 503,
    body: { detail: /cannot be read \(.*no regular file; replace it.*nothing was changed$/ },
  };
  t.match(await app.post('/config', { updates: { tz: 'second' } }), refused);
  await rm(file, { recursive: true });
  await writeFile(file, text);
  t.equal((await app.post('/config', { updates: { tz: 'second' } })).status, 200);
  t.equal((await log()).split('cannot be read any more').length, 2, 'the log tells it once');
});

t.test('a broken file that vanishes is written again from the backup in use', async t => {
  const dumb = { gateway: { enabled: false }, log_count: 4 };
  const copy = JSON.stringify({ tz: 'first', dumb, idle: sleeper('Idle', false) });
  const configDir = testDir(t, { 'stackwarden.json': '{ "dumb": ', 'stackwarden.json.bak': copy });
  const app = await startHost({ plugins: ['config', 'health'], configDir });
  t.teardown(() => app.stop());
  const file = path.join(configDir, 'stackwarden.json');
  const save = () => app.post('/config', { updates: { tz: 'second' } });
  t.equal((await save()).status, 409);
  await rm(file);
  t.equal((await save()).status, 200);
  t.same(JSON.parse(await readFile(file, 'utf8')), { ...JSON.parse(copy), tz: 'second' });
  t.equal((await app.get('/health')).body.status, 'healthy', 'it is no longer called broken');
});

t.test('a repaired configuration is used, and the boot goes on', async t => {
  const configDir = testDir(t, { 'stackwarden.json': '{ "dumb": ' });
  const app = await startHost({ plugins: ['config', 'process'], configDir });
  t.teardown(() => app.stop());
  const phase = async () => (await app.get('/process/startup-status')).body.phase;
  await until(async () => (await phase()) === 'degraded');
  const dumb = {
    log_dir: path.join(app.configDir, 'log'),
    gateway: { enabled: false },
    startup: { stabilization_seconds: 0 },
  };
  await writeFile(
    path.join(app.configDir, 'stackwarden.json'),
    JSON.stringify({ puid: 65_534, pgid: 65_534, dumb, awake: sleeper('Awake', true) }),
  );
  await until(async () => (await app.get('/process/service-status?process_name=Awake')).body.status === 'running');
  await until(async () => (await phase()) === 'ready');
});
