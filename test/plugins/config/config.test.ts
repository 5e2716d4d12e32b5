// The configuration over HTTP: layers, saves, refusals, secrets and schemas.
import { existsSync, statSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { asOwner, startHost, type TestHost } from '../../support/host.ts';
import { kid, start, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['auth', 'config', 'process', 'auto-restart', 'health'];

const hasAuth = existsSync(new URL('../../../plugins/auth/index.ts', import.meta.url));
const skip = ['config', 'process'].some(
  name => !existsSync(new URL(`../../../plugins/${name}/index.ts`, import.meta.url)),
);
const fileOf = (app: TestHost) => path.join(app.configDir, 'stackwarden.json');
const saved = async (app: TestHost) => JSON.parse(await readFile(fileOf(app), 'utf8'));
const post = (app: TestHost, body: unknown) => app.post('/config', body);

t.test('the environment overrides memory, which overrides the file', { skip }, async t => {
  const app = await startHost({
    plugins: PLUGINS,
    config: { kid: kid('Kid', ['calm'], { port: 7_001, env: { A: '1', B: '2' }, token: 'in the file' }) },
    env: { KID_TOKEN: 'from the environment', KID_PORT: 'many', KID_ENABLED: 'yes' },
  });
  t.teardown(() => app.stop());
  const block = async () => (await app.get('/config?process_name=kid')).body;
  t.match(await block(), { token: 'from the environment', port: 7_001, enabled: true }, 'what does not fit is ignored');

  const inMemory = await post(app, { process_name: 'Kid', updates: { port: 7_002 } });
  t.match(inMemory.body, {
    status: 'updated',
    process_name: 'Kid',
    persisted: false,
    changed: ['kid.port'],
    overridden: [],
  });
  t.equal((await saved(app)).kid.port, 7_001, 'not on disk');
  t.equal((await block()).port, 7_002);

  const whole = await post(app, {
    process_name: 'Kid',
    updates: { ...(await block()), env: { B: '3' } },
    persist: true,
  });
  t.same(whole.body.changed.sort(), ['kid.env.A', 'kid.env.B']);
  const { kid: stored } = await saved(app);
  t.same(stored.env, { B: '3' }, 'an object is replaced');
  t.equal(stored.token, 'in the file', 'what the environment gives is not written down');
  t.equal(stored.port, 7_002, 'what was sent is saved, and no longer an overlay');

  const shadowed = await post(app, { process_name: 'Kid', updates: { token: 'new' }, persist: true });
  t.same(shadowed.body.overridden, ['kid.token']);
  t.equal((await saved(app)).kid.token, 'new');
  t.equal((await block()).token, 'from the environment');
  await post(app, { process_name: 'Kid', updates: { token: 'at once' } });
  t.equal((await block()).token, 'at once', 'memory is above the environment');

  await post(app, { updates: { kid: { env: { C: '4' } }, tz: 'UTC' } });
  t.match(await saved(app), { tz: 'UTC', kid: { env: { B: '3', C: '4' } } }, 'a global update merges, and is saved');
  await post(app, { updates: { kid: { env: { C: null } } }, persist: false });
  t.same((await block()).env, { B: '3' });
  t.same((await saved(app)).kid.env, { B: '3', C: '4' });
});

t.test(
  'what is saved counts also where memory alone holds the object, or something else, around it',
  { skip },
  async t => {
    const env = { A: '1', C: '3' };
    const app = await startHost({
      plugins: PLUGINS,
      config: { kid: kid('Kid', ['calm'], { env, extra: { a: 1, deep: { x: 1, y: 2 } }, other: { a: 1, b: 2 } }) },
    });
    t.teardown(() => app.stop());
    const block = async () => (await app.get('/config?process_name=kid')).body;
    const inMemory = { env: { A: '2', B: '2' }, extra: { a: 2, deep: { x: 2 } }, other: 'text' };
    await post(app, { process_name: 'Kid', updates: inMemory });
    t.match(await block(), inMemory);

    const kept = await post(app, { updates: { kid: { env: { A: '4' }, extra: { deep: { x: 4 } }, other: { a: 4 } } } });
    t.same(kept.body.changed, ['kid.env.A', 'kid.extra.deep.x', 'kid.other']);
    const { env: nowEnv, extra, other } = await block();
    t.same(nowEnv, { A: '4', B: '2' }, 'the rest is as memory has it');
    t.same(extra, { a: 2, deep: { x: 4 } });
    t.same(other, { a: 4 });
    t.match((await saved(app)).kid, {
      env: { A: '4', C: '3' },
      extra: { a: 1, deep: { x: 4, y: 2 } },
      other: { a: 4 },
    });

    await post(app, { updates: { kid: { extra: null } }, persist: false });
    t.notOk('extra' in (await block()));
    await post(app, { updates: { kid: { extra: { deep: { y: 5 } } } } });
    t.same((await block()).extra, { deep: { y: 5 } }, 'what memory removed stays away');
  },
);

t.test('a block that only memory has is saved as a whole or not at all', { skip }, async t => {
  const app = await startHost({ plugins: PLUGINS, config: { kid: kid('Kid', ['calm'], { enabled: true }) } });
  t.teardown(() => app.stop());
  const tried = kid('Tried', ['calm']);
  await post(app, { updates: { tried, kid: { port: 7_021 } }, persist: false });

  const part = await post(app, { process_name: 'Tried', updates: { log_level: 'DEBUG' }, persist: true });
  t.match(part.body, { persisted: false, changed: ['tried.log_level'], warnings: [/^Tried is in memory alone/] });
  const both = await post(app, { updates: { tried: { port: 7_022 }, kid: { log_level: 'DEBUG' } } });
  t.match(both.body, { persisted: true, warnings: [/^Tried is in memory alone/] });
  const file = await saved(app);
  t.notOk('tried' in file, 'a part of it would be no process at the next start');
  t.match(file.kid, { log_level: 'DEBUG' }, 'what else was sent is saved');
  t.match((await app.get('/config?process_name=Tried')).body, { log_level: 'DEBUG', port: 7_022 });

  const { body: block } = await app.get('/config?process_name=Tried');
  const whole = await post(app, { process_name: 'Tried', updates: block, persist: true });
  t.match(whole.body, { persisted: true, warnings: [] });
  t.match((await saved(app)).tried, { ...tried, port: 7_022 });
  await post(app, { process_name: 'Tried', updates: { port: 7_023 }, persist: true });
  t.equal((await saved(app)).tried.port, 7_023, 'from then on its parts are saved');
});

t.test('refusals change nothing', { skip }, async t => {
  const app = await startHost({
    plugins: PLUGINS,
    config: { kid: kid('Kid', ['calm']), other: kid('Other', ['calm']) },
  });
  t.teardown(() => app.stop());
  const [before, revision] = [await readFile(fileOf(app), 'utf8'), (await app.get('/config')).text];
  for (const [body, code, detail] of [
    [{ process_name: 'nobody', updates: { port: 1 } }, 404, 'Process not found'],
    [{ process_name: 'Kid', updates: {} }, 400, /updates is empty/],
    [{ process_name: 'Kid', updates: { port: 'x' } }, 400, 'kid.port: it must be a number, not text'],
    [{ process_name: 'Kid', updates: { surprise: 1 } }, 400, /'surprise'/],
    [{ process_name: 'Kid', updates: { process_name: 'New' } }, 400, /process_name/],
    [{ updates: { unknown_root: { a: 1 } } }, 400, /'unknown_root'/],
    [{ updates: { kid: { process_name: 'Other' } } }, 400, /already in use/],
    [{ updates: { puid: 0 } }, 400, /puid/],
    [{ updates: { dumb: { api_service: { port: 0 } } } }, 400, /dumb\.api_service\.port/],
    [{}, 422, 'body.updates: it is missing'],
    [{ updates: [] }, 422, 'body.updates: it must be an object, not a list'],
    [{ updates: 'x' }, 422, String],
    [{ process_name: 7, updates: { a: 1 } }, 422, String],
    [{ updates: { tz: 'UTC' }, persist: 'yes' }, 422, 'body.persist: it must be true or false, not text'],
  ] as const) {
    t.match(await post(app, body), { status: code, body: { detail } }, JSON.stringify(body));
  }
  t.equal(await readFile(fileOf(app), 'utf8'), before);
  t.equal((await app.get('/config')).text, revision);
  t.match(await app.get('/config?process_name=nobody'), { status: 404 });
});

t.test('the answer to a change names the restarts that it requires', { skip }, async t => {
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      kid: kid('Kid', ['calm'], { port: 7_011, enabled: true }),
      other: kid('Other', ['calm'], { port: 7_012, enabled: true }),
    },
  });
  t.teardown(() => app.stop());
  await start(app, 'Other');
  await stop(app, 'Kid');
  const { body } = await post(app, { process_name: 'Kid', updates: { port: 7_012, log_level: 'DEBUG' } });
  t.same(body.warnings, ['port 7012 of Other is also that of Kid']);
  t.same(body.restart_required, [], 'it does not run');
  const running = await post(app, { process_name: 'Other', updates: { env: { A: '1' }, log_level: 'DEBUG' } });
  t.same(running.body.restart_required, ['other.env']);
  t.same(running.body.warnings, [], 'told once');
  t.match(await post(app, { updates: { dumb: { api_service: { port: 8_123 } } } }), {
    body: { restart_required: ['dumb.api_service.port'] },
  });
  const odd = { updates: { dumb: { log_levle: 'DEBUG', api_service: { hots: 1 } }, kid: { nope: { deep: 1 } } } };
  const told = (await post(app, odd)).body;
  t.same(told.warnings, [
    'nothing reads dumb.log_levle; it is kept as it is',
    'nothing reads dumb.api_service.hots; it is kept as it is',
    'nothing reads kid.nope; it is kept as it is',
  ]);
  const ofRunning = (await post(app, { updates: { other: { nope: 1 } } })).body;
  t.same([...told.restart_required, ...ofRunning.restart_required], [], 'what nothing reads never counts');
  t.same((await post(app, odd)).body.warnings, [], 'told once');
  const read = { updates: { kid: { env: { A: '{word}' }, word: 'x', nope: null } } };
  t.same((await post(app, read)).body.warnings, [], 'variables may use any key of the block');
  const mount = { updates: { other: { mount_dir: '/mnt', mount_name: 'other' } } };
  t.match((await post(app, mount)).body, { warnings: [], restart_required: [] }, 'the dependency graph reads them');
  t.match(await post(app, { updates: { other: null } }), { status: 409, body: { detail: /Other is running/ } });
  t.match(await post(app, { updates: { fresh: { process_name: 'Fresh', command: ['sleep', '1'] } } }), { status: 200 });
  t.ok((await app.get('/process/processes')).body.processes.some((row: { name: string }) => row.name === 'Fresh'));
});

t.test('undescribed secrets are recognized by their names', { skip }, async t => {
  const url = 'http://u:p@host/';
  const secrets = {
    ...{ MY_PASSWORD: 'p1', DB_PASS: 'p2', PASS: 'p3', GPG_PASSPHRASE: 'p4', passphrase: 'p5' },
    ...{ KEY: 'k2', MYKEY: 'k6', MASTERKEY: 'k3', 'signing-key': 'k4', smtpPass: 'p6', 'rc-pass': 'p7' },
  };
  const open = { PLAIN: 'x', COMPASS: 'n', monkey: 'm', MONKEYS: 'h', key: 'name', config_key: 'c' };
  const app = await startHost({
    plugins: PLUGINS,
    config: { kid: kid('Kid', ['calm'], { api_key: 'k1', env: { ...secrets, ...open }, url }) },
  });
  t.teardown(() => app.stop());
  t.equal((await app.get('/config')).body.kid.api_key, 'k1', 'the editor saves whole blocks, so it sees what it saves');

  await post(app, { updates: { dumb: { api_service: { mask_secrets: true } } } });
  const masked = (await app.get('/config?process_name=Kid')).body;
  t.match(masked, { api_key: '********', url: 'http://********@host/' });
  const mask = '********';
  t.same(masked.env, { ...Object.fromEntries(Object.keys(secrets).map(name => [name, mask])), ...open });
  await post(app, {
    process_name: 'Kid',
    updates: { ...masked, env: { ...masked.env, PLAIN: 'z' } },
    persist: true,
  });
  t.match((await saved(app)).kid, { api_key: 'k1', env: { ...secrets, ...open, PLAIN: 'z' }, url });

  const moved = 'http://********@other/?a=b';
  const refused = await post(app, { process_name: 'Kid', updates: { url: moved }, persist: true });
  t.match(refused, { status: 400, body: { detail: /^The credentials of http:\/\/\*{8}@other are hidden; write/ } });
  t.equal((await post(app, { updates: { kid: { env: { PLAIN: moved } } } })).status, 400);
  t.match((await saved(app)).kid, { env: { PLAIN: 'z' }, url }, 'the mask does not take the place of credentials');

  const { MY_PASSWORD: shown, ...others } = masked.env;
  const env = { ...others, NEW_PASSWORD: shown };
  const renamed = await post(app, { process_name: 'Kid', updates: { env }, persist: true });
  t.match(renamed.body.warnings, [/^kid\.env\.NEW_PASSWORD is left out, because \*{8} hides nothing there; send/]);
  t.notMatch((await saved(app)).kid.env, { NEW_PASSWORD: /./ });
  const again = await post(app, { process_name: 'Kid', updates: { env: others }, persist: true });
  t.same(again.body.warnings, [], 'masks at their own places stand for what they hide');
});

t.test('the file keeps its comments, is read again when edited, and survives damage', { skip }, async t => {
  const text = `{
    // mine
    "kid": ${JSON.stringify(kid('Kid', ['calm'], { port: 7_021 }))}, /* kept */
    "own": { "a": 1.0, "big": 12345678901234567890 },
    "dumb": { "gateway": { "enabled": false } },
}
`;
  const configDir = testDir(t, { 'stackwarden.json': text });
  const app = await startHost({ plugins: PLUGINS, configDir });
  t.teardown(() => app.stop());
  const file = fileOf(app);
  await post(app, { process_name: 'Kid', updates: { port: 7_022 }, persist: true });
  t.equal(await readFile(file, 'utf8'), text.replace('7021', '7022'), 'nothing else of the file is touched');

  await writeFile(file, text.replace('7021', '7023'));
  await until(async () => (await app.get('/config?process_name=Kid')).body.port === 7_023, {
    what: 'the outside edit',
  });
  await writeFile(file, '{"kid": ');
  const refused = await post(app, { process_name: 'Kid', updates: { port: 7_024 }, persist: true });
  t.match(refused, { status: 409, body: { detail: /not valid .*stackwarden\.json:1:9/ } });
  t.equal(await readFile(file, 'utf8'), '{"kid": ', 'a file that somebody is mending is left alone');
  t.equal((await app.get('/config?process_name=Kid')).body.port, 7_023);
  t.equal((await post(app, { process_name: 'Kid', updates: { port: 7_025 } })).status, 200, 'memory can be changed');
  await writeFile(file, text);
  t.equal((await post(app, { updates: { tz: 'UTC' } })).status, 200, 'and then it is mended');
  t.match(await readFile(file, 'utf8'), '// mine');
});

t.test('a YAML file keeps its comments and form', { skip }, async t => {
  const text = `# the stack
kid:
  process_name: Kid   # name
  command: [sleep, '600']
  port: 7031 # port
dumb: { gateway: { enabled: false } }
`;
  const configDir = testDir(t, { 'stackwarden.yaml': text });
  const app = await startHost({ plugins: PLUGINS, configDir });
  t.teardown(() => app.stop());
  await post(app, { process_name: 'Kid', updates: { port: 7_032 }, persist: true });
  t.equal(await readFile(path.join(configDir, 'stackwarden.yaml'), 'utf8'), text.replace('7031', '7032'));
  t.notOk(existsSync(fileOf(app)));
});

t.test('only the owner can read a backup, whatever the mode of the file', { skip }, async t => {
  const configDir = testDir(t, { 'stackwarden.json': '{ "tz": "new" }' });
  await chmod(path.join(configDir, 'stackwarden.json'), 0o644);
  const app = await startHost({ plugins: ['config'], configDir });
  await app.stop();
  t.equal(statSync(`${fileOf(app)}.bak`).mode & 0o777, 0o600);
  t.equal(statSync(fileOf(app)).mode & 0o777, 0o644, 'the file itself stays as its owner made it');
});

t.test('a host with a damaged file runs on the last good backup', { skip }, async t => {
  const good = JSON.stringify({ kid: kid('Kid', ['calm'], { enabled: true }), dumb: { gateway: { enabled: false } } });
  const configDir = testDir(t, { 'stackwarden.json': '{"kid"', 'stackwarden.json.bak': good });
  const app = await startHost({ plugins: PLUGINS, configDir });
  t.match(await app.get('/health'), { body: { status: 'unhealthy' } });
  t.match((await app.get('/config?process_name=Kid')).body, { enabled: true }, 'the last good copy runs in memory');
  t.match(await post(app, { updates: { tz: 'UTC' } }), { status: 409 });
  t.equal(await readFile(fileOf(app), 'utf8'), '{"kid"');
  await app.stop();

  const empty = testDir(t, { 'stackwarden.json': '{"kid"' });
  await chmod(empty, 0o755);
  const safe = await startHost({ plugins: PLUGINS, configDir: empty });
  t.teardown(() => safe.stop());
  t.match((await safe.host.reviewConfig()).problems, [/stackwarden\.json:1:7/]);
  t.equal((await safe.get('/auth/status')).status, 200);
});

t.test('one bad block does not take the others down', { skip }, async t => {
  const app = await startHost({
    plugins: PLUGINS,
    config: { good: kid('Good', ['calm']), bad: kid('Bad', ['calm'], { port: 'x', enabled: true }) },
  });
  t.teardown(() => app.stop());
  t.match((await app.get('/process?process_name=Bad')).body, { enabled: false, warning: /bad\.port/ });
  t.equal((await start(app, 'Good')).status, 200);
  const schema = (await app.get('/config/schema')).body;
  t.equal(schema.$schema, 'http://json-schema.org/draft-07/schema#');
  t.ok(schema.properties.dumb.properties.auto_restart);
  t.ok(schema.properties.good.properties.command);
  const block = await app.post('/config/process-config/schema', { process_name: 'good' });
  t.notMatch(block.text, /"\$id"|"\$ref"/);
  t.not(block.body.additionalProperties, false);
  t.match(await app.post('/config/process-config/schema', { process_name: 'nobody' }), { status: 404 });
  t.match(await app.post('/config/process-config/schema', {}), { status: 422 });
});

t.test('a save warns about a relative data_root', { skip: skip || !hasAuth }, async t => {
  const app = await startHost({ config: {}, plugins: ['config', 'process', 'auth'] });
  t.teardown(() => app.stop());
  const owner = await asOwner(app);
  const save = async (place: string) => (await owner.post('/config', { updates: { data_root: place } })).body.warnings;
  t.match(await save('data'), [/^data_root: 'data' is relative, so it lies wherever the host was started/]);
  t.same(await save('/data'), []);
});

t.test('an entry of a list of names that counts for nothing is told when it is saved, and once', { skip }, async t => {
  const app = await startHost({ config: {}, plugins: ['config', 'process'] });
  t.teardown(() => app.stop());
  const save = async (api_service: object) => (await post(app, { updates: { dumb: { api_service } } })).body.warnings;
  const told = /^dumb\.api_service\.trusted_proxies: 'nginx' is no address and no network/;
  t.match(await save({ trusted_proxies: ['nginx', '192.0.2.1'] }), [told]);
  t.same(await save({ trusted_proxies: ['nginx', '192.0.2.2'], allowed_hosts: ['https://media.example/'] }), []);
});

t.test('a section of an unloaded plugin cannot be changed while authentication is off', async t => {
  const app = await startHost({
    plugins: ['config', 'process'],
    config: { dumb: { left_out: { address: 'mine', more: 1 } } },
  });
  t.teardown(() => app.stop());
  const save = (dumb: object) => app.post('/config', { updates: { dumb } });
  const refusal = /^dumb\.left_out is a section that no loaded plugin describes/;
  t.match(await save({ left_out: { address: 'theirs' } }), { status: 403, body: { detail: refusal } });
  t.match(await save({ left_out: { more: null } }), { status: 403, body: { detail: refusal } }, 'nor in part removed');
  t.match(await save({ another: { address: 'theirs' } }), { status: 403 }, 'nor is one added');
  t.equal((await save({ left_out: { address: 'mine', more: 1 }, log_level: 'DEBUG' })).status, 200, 'it may be sent');
});
