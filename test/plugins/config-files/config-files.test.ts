// A service's own file over HTTP: it is read, edited in place and kept in versions, and no other file can be reached.
import { execFile } from 'node:child_process';
import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { restingVersion } from '../../../core/kit/file-version.ts';
import { testDir } from '../../support/directory.ts';
import { asOwner, pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { kid, notedPid, start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const PLUGINS = [
  'config',
  'process',
  'config-files',
  'format-json',
  'format-xml',
  'format-yaml',
  'format-conf',
  'format-python',
];

const run = promisify(execFile);
const TEXT = '# mine\nport: 80   # here\nname: a\n';

async function open(
  t: Test,
): Promise<{ app: TestHost; dir: string; file: string; call: Call; point: (at: string) => Promise<void> }> {
  const root = testDir(t, {
    own: { 'service.yaml': TEXT, 'service.json': '{"a": 1}', 'bad.json': '{"a": ', 'x.toml': 'a = 1' },
    outside: { 'secret.json': '{"a": 1}' },
    run: {},
  });
  const dir = path.join(root, 'own');
  await chmod(root, 0o755);
  await chmod(path.join(root, 'run'), 0o777);
  const file = path.join(dir, 'service.yaml');
  const open = await startHost({
    plugins: ['auth', ...PLUGINS],
    config: {
      service: kid('Service', ['ignore-term', path.join(root, 'run', 'pid')], { config_dir: dir, config_file: file }),
      bare: kid('Bare', ['calm']),
    },
  });
  t.teardown(() => open.stop());
  const app = await asOwner(open);
  const call: Call = (more = {}) => app.post('/config/service-config', { service_name: 'Service', ...more });
  const point = async (at: string) => {
    await app.post('/config', { process_name: 'Service', updates: { config_file: at } });
  };
  return { app, dir, file, call, point };
}

type Call = (more?: Record<string, unknown>) => ReturnType<TestHost['post']>;

t.test('the file is read, changed in place, and its version kept', async t => {
  const { app, dir, file, call } = await open(t);
  const read = await call();
  t.match(read, {
    status: 200,
    body: {
      service: 'Service',
      service_path: 'service',
      config_format: 'yaml',
      config: { port: 80, name: 'a' },
      raw: TEXT,
    },
  });
  t.match(read.body.revision, /^[0-9a-f]{64}$/);
  for (const updates of [null, '', {}])
    t.equal((await call({ updates })).body.raw, TEXT, 'nothing to change is a read');

  const full = { ...read.body.config, port: 81 };
  const changed = await call({ updates: full, config_format: 'yaml', revision: read.body.revision });
  t.match(changed, { status: 200, body: { status: 'updated', changed: 1, warnings: [] } });
  t.equal(await readFile(file, 'utf8'), TEXT.replace('80', '81'));
  t.equal((await call({ updates: full })).body.changed, 0, 'the same again writes nothing');
  t.match(await call({ updates: 'name: b' }), { status: 200, body: { changed: 1 } }, 'an update as text');
  t.equal((await call({ updates: { port: 1 }, revision: read.body.revision })).status, 409);
  t.equal((await call({ updates: { port: 1 }, config_format: 'json' })).status, 400);
  t.equal((await call({ config_format: 'json' })).status, 400, 'a read too');
  t.equal((await call({ config_format: 'yaml' })).status, 200);
  t.equal((await call({ updates: { name: 'b' }, config_format: '' })).status, 200, 'an empty name is none');
  for (const updates of [[], 5, true]) t.equal((await call({ updates })).status, 422);

  for (let port = 100; port < 108; port += 1) await call({ updates: { port } });
  const backups = path.join(app.configDir, 'backups', 'service-config', 'service');
  const versions = (await readdir(backups)).sort();
  t.equal(versions.length, 5, 'the last five versions are kept');
  t.match(await readFile(path.join(backups, versions.at(-1) ?? ''), 'utf8'), 'port: 106');
  t.equal((await stat(path.join(backups, versions[0] ?? ''))).mode & 0o777, 0o600);

  const many = await Promise.all(
    Array.from({ length: 10 }, (_, index) => call({ updates: { [`key${index}`]: index } })),
  );
  t.ok(many.every(answer => answer.status === 200));
  t.equal(Object.keys((await call()).body.config).length, 12, 'changes at the same time all count');

  // It ends only after the checks of this test.
  await app.post('/config', { process_name: 'Service', updates: { stop_grace_seconds: 600 } });
  await start(app, 'Service');
  const pid = await notedPid(path.join(dir, '..', 'run', 'pid'));
  t.match((await call({ updates: { port: 5 } })).body.warnings, [/is running/]);
  const stopped = stop(app, 'Service');
  await until(async () => (await status(app, 'Service')).status === 'stopping');
  t.match((await call({ updates: { port: 6 } })).body.warnings, [/is running/], 'also while it is being stopped');
  process.kill(pid, 'SIGKILL');
  await stopped;
  t.same((await call({ updates: { port: 7 } })).body.warnings, []);
});

t.test('a key that every object inherits can be set like any other', async t => {
  const { file, call } = await open(t);
  const text = 'port: 80 # own\nconstructor: a\nnested:\n  prototype: b\n  toString: c\n';
  await writeFile(file, text);
  const { config } = (await call()).body;
  t.match(await call({ updates: config }), { status: 200, body: { changed: 0 } });
  const updates = { ...config, port: 81, nested: { ...config.nested, prototype: 'd' } };
  t.match(await call({ updates, mode: 'replace' }), { status: 200, body: { changed: 2 } });
  t.equal(await readFile(file, 'utf8'), text.replace('80', '81').replace('b\n', 'd\n'));
  const large = { ...updates, text: 'x'.repeat(100_000) };
  t.match(await call({ updates: large }), { status: 200, body: { changed: 1 } }, 'a large body too');
});

t.test('a change that would alter what was not sent is refused', async t => {
  const { file, call } = await open(t);
  const text = 'base: &base\n  port: 80\n  host: a\nother: *base\n';
  await writeFile(file, text);
  const refusal = {
    status: 400,
    body: {
      detail: /not hold these values; where one place stands for several, send all alike, or edit it/,
    },
  };
  t.match(await call({ updates: { base: { port: 81 } } }), refusal, 'what stands for it elsewhere would change too');
  t.equal(await readFile(file, 'utf8'), text);
  const both = { base: { port: 81 }, other: { port: 81 } };
  t.match(await call({ updates: both }), { status: 200 }, 'unless that is sent as well');
  const changed = { port: 81, host: 'a' };
  t.same((await call()).body.config, { base: changed, other: changed });
});

t.test('a file with the longest possible name can be changed', async t => {
  const { app, dir, call, point } = await open(t);
  // Shortened at any place, both names would be equal except for their ends.
  const files = ['a', 'b'].map(end => path.join(dir, `${'é'.repeat(124)}_${end}.yaml`));
  for (const file of files) {
    await writeFile(file, TEXT);
    await point(file);
    for (let port = 100; port < 107; port += 1) t.match(await call({ updates: { port } }), { status: 200 });
    t.equal(await readFile(file, 'utf8'), TEXT.replace('80', '106'));
  }
  const backups = path.join(app.configDir, 'backups', 'service-config', 'service');
  t.equal((await readdir(backups)).length, 10, 'five versions of each');
  t.same(
    (await readdir(dir)).filter(name => name.startsWith('é')).sort(),
    files.map(file => path.basename(file)),
  );
});

t.test('files of a clock that was ahead, and foreign files, displace no version', async t => {
  const { app, file, call } = await open(t);
  const backups = path.join(app.configDir, 'backups', 'service-config', 'service');
  await mkdir(backups, { recursive: true, mode: 0o700 });
  const name = path.basename(file);
  const ahead = [1, 2, 3, 4, 5].map(day => `2099-01-0${day}T00-00-00-000Z-${name}`);
  const others = [1, 2, 3, 4, 5, 6].map(day => `2020-01-0${day}T00-00-00-000Z-my-${name}`);
  for (const found of [...ahead, ...others]) await writeFile(path.join(backups, found), '', { mode: 0o600 });
  for (const port of [100, 101, 102]) t.equal((await call({ updates: { port } })).status, 200);
  const left = (await readdir(backups)).sort();
  t.same(left.slice(0, others.length), others);
  t.same(left.slice(-2), ahead.slice(-2), 'five versions in all');
  const own = left.slice(others.length, -2);
  const texts = await Promise.all(own.map(found => readFile(path.join(backups, found), 'utf8')));
  t.same(
    texts.map(text => /port: (\d+)/.exec(text)?.[1]),
    ['80', '100', '101'],
  );
});

t.test("services whose names make one directory name push out none of each other's versions", async t => {
  const dir = testDir(t);
  const names = ['日本', '中文'];
  const block = (index: number) => {
    const folder = path.join(dir, String(index));
    return { process_name: names[index], config_dir: folder, config_file: path.join(folder, 'x.yaml') };
  };
  for (const index of [0, 1]) {
    await mkdir(path.join(dir, String(index)));
    await writeFile(path.join(dir, String(index), 'x.yaml'), TEXT);
  }
  const app = await startHost({ plugins: PLUGINS, config: { first: block(0), second: block(1) } });
  t.teardown(() => app.stop());
  const change = (index: number, port: number) =>
    app.post('/config/service-config', { service_name: names[index], updates: { port } });
  const root = path.join(app.configDir, 'backups', 'service-config');
  const versions = (directory: string) => readdir(path.join(root, directory));
  // As an earlier release left it: the owner of these versions is unknown.
  await mkdir(path.join(root, '-'), { recursive: true, mode: 0o700 });
  const mixed = [1, 2, 3, 4, 5].map(day => `2020-01-0${day}T00-00-00-000Z-x.yaml`);
  for (const name of mixed) await writeFile(path.join(root, '-', name), '', { mode: 0o600 });
  for (let port = 100; port < 106; port += 1)
    for (const index of [0, 1]) t.equal((await change(index, port)).status, 200);
  t.same((await versions('-')).sort(), mixed, 'what may be of either stays');
  const own = (await readdir(root)).filter(name => name !== '-' && name !== '.owners');
  t.equal(own.length, 2);
  for (const directory of own) t.equal((await versions(directory)).length, 5);
});

t.test('a service that had its directory of versions alone keeps it', async t => {
  const dir = testDir(t, { 'a.yaml': TEXT, 'b.yaml': TEXT });
  const block = (processName: string, name: string) => ({
    process_name: processName,
    config_dir: dir,
    config_file: path.join(dir, name),
  });
  const open = await startHost({ plugins: ['auth', ...PLUGINS], config: { first: block('Foo Bar', 'a.yaml') } });
  t.teardown(() => open.stop());
  const app = await asOwner(open);
  const change = async (name: string, port: number) =>
    t.equal((await app.post('/config/service-config', { service_name: name, updates: { port } })).status, 200);
  const root = path.join(app.configDir, 'backups', 'service-config');
  await change('Foo Bar', 1);
  t.equal(
    (await app.post('/config', { updates: { second: { ...block('foo-bar', 'b.yaml'), command: ['sleep', '1'] } } }))
      .status,
    200,
  );
  for (const port of [2, 3, 4, 5, 6, 7]) await change('foo-bar', port);
  await change('Foo Bar', 2);
  t.match((await readdir(root)).sort(), ['.owners', 'foo-bar', /^foo-bar-[0-9a-f]{12}$/]);
  t.match((await readdir(path.join(root, 'foo-bar'))).sort(), [/a\.yaml$/, /a\.yaml$/]);
  await change('Foo Bar', 3);
  t.equal((await readdir(path.join(root, 'foo-bar'))).length, 3);
});

t.test('a name as long as directories may have, and a longer one', async t => {
  const dir = testDir(t, { '255.yaml': TEXT, '256.yaml': TEXT });
  const block = (length: number) => ({
    process_name: 'x'.repeat(length),
    config_dir: dir,
    config_file: path.join(dir, `${length}.yaml`),
  });
  const app = await startHost({ plugins: PLUGINS, config: { first: block(255), second: block(256) } });
  t.teardown(() => app.stop());
  const change = async (length: number, port: number) =>
    app.post('/config/service-config', { service_name: 'x'.repeat(length), updates: { port } });
  for (const length of [255, 256]) t.equal((await change(length, length)).status, 200);
  const found = await readdir(path.join(app.configDir, 'backups', 'service-config'));
  t.match(found.sort(), ['.owners', /^x{242}-[0-9a-f]{12}$/, 'x'.repeat(255)]);
});

t.test('a list of objects is replaced where it differs, and only there', async t => {
  const dir = testDir(t, { 'own.json': '{ "arrs": [ {"name": "a"} ], "port": 1 }\n' });
  const file = path.join(dir, 'own.json');
  const app = await startHost({
    plugins: PLUGINS,
    config: { service: { process_name: 'Service', config_dir: dir, config_file: file } },
  });
  t.teardown(() => app.stop());
  const send = (arrs: object[]) =>
    app.post('/config/service-config', { service_name: 'Service', updates: { arrs, port: 1 } });
  t.equal((await send([{ name: 'a' }])).status, 200);
  t.equal(await readFile(file, 'utf8'), '{ "arrs": [ {"name": "a"} ], "port": 1 }\n', 'the same changes no byte');
  t.equal((await send([{ name: 'a' }, { name: 'b', on: true }])).status, 200);
  t.same(JSON.parse(await readFile(file, 'utf8')).arrs, [{ name: 'a' }, { name: 'b', on: true }]);
});

t.test('unknown services, formats and damaged files are refused', async t => {
  const { app, dir, call, point } = await open(t);
  t.equal((await app.post('/config/service-config', { service_name: 'nobody' })).status, 404);
  t.equal((await app.post('/config/service-config', { service_name: 'Bare' })).status, 400);
  await point(path.join(dir, 'bad.json'));
  t.match(await call(), { status: 422, body: { detail: /^bad\.json: .*line 1, column/ } });
  for (const name of ['x.toml', '.env']) {
    const file = path.join(dir, name);
    await writeFile(file, 'a = 1\n');
    await point(file);
    const known = '.ini, .json, .py, .xml, .yaml, .yml';
    const kind = name.slice(name.indexOf('.'));
    const detail = `Files of the kind '${kind}' are not edited here, only ${known}; edit ${file} by hand`;
    t.match(await call(), { status: 400, body: { detail } });
  }
  await point(path.join(dir, 'missing.yaml'));
  t.equal((await call()).status, 404);
  await point('relative.yaml');
  t.equal((await call()).status, 400);
  const binary = path.join(dir, 'binary.json');
  await writeFile(binary, Buffer.from([0x7b, 0, 0x7d]));
  await point(binary);
  t.equal((await call()).status, 400);
  const huge = path.join(dir, 'huge.json');
  await writeFile(huge, '{}');
  await truncate(huge, 6 * 1024 * 1024);
  await point(huge);
  t.equal((await call()).status, 400);
});

t.test('links, pipes and paths outside of the directory are refused', async t => {
  const { app, dir, file, call, point } = await open(t);
  const outside = path.join(path.dirname(dir), 'outside');
  const secret = path.join(outside, 'secret.json');
  await symlink(secret, path.join(dir, 'link.json'));
  await mkdir(path.join(dir, 'a.json'));
  await run('mkfifo', [path.join(dir, 'pipe.json')]);
  await link(path.join(dir, 'service.json'), path.join(dir, 'second-name.json'));
  const refused = [
    secret,
    path.join(dir, '..', path.basename(outside), 'secret.json'),
    path.join(dir, 'link.json'),
    path.join(dir, 'a.json'),
    path.join(dir, 'pipe.json'),
    path.join(dir, 'second-name.json'),
    '/etc/passwd',
    '/etc/adduser.conf',
    '/dev/null',
    '/proc/self/environ',
    path.join(app.configDir, 'stackwarden.json'),
    path.join(app.configDir, 'users.json'),
    path.join(app.configDir, 'supervisor', 'state.json'),
  ];
  for (const at of refused) {
    await point(at);
    const answer = await call();
    t.ok([403, 404].includes(answer.status), `${at} is not read`, { status: answer.status });
    t.notOk(answer.body.raw, 'and nothing of it is told');
    t.ok([403, 404].includes((await call({ updates: { a: 2 } })).status), `${at} is not written`);
  }
  t.equal(await readFile(secret, 'utf8'), '{"a": 1}');
  await app.post('/config', {
    process_name: 'Service',
    updates: { config_dir: '/', config_file: '/etc/adduser.conf' },
  });
  t.ok([403, 404].includes((await call()).status), 'a block cannot make the whole disk its place');

  await app.post('/config', { process_name: 'Service', updates: { config_dir: dir, config_file: `"${file}"` } });
  t.equal((await call()).status, 200, 'one pair of quotes around the name is nothing');
  const inside = path.join(dir, 'inside.yaml');
  await symlink(file, inside);
  await point(inside);
  t.equal((await call({ updates: { port: 90 } })).status, 200, 'a link that stays inside is followed');
  t.ok((await stat(inside)).isFile());
  t.match(await readFile(file, 'utf8'), 'port: 90', 'and its target is what is written');
});

t.test('a file stays as it is when no version can be kept', async t => {
  const { app, file, call } = await open(t);
  // A file in place of the directory of versions, so no version can be kept and nothing may be changed.
  await mkdir(path.join(app.configDir, 'backups'), { recursive: true });
  await writeFile(path.join(app.configDir, 'backups', 'service-config'), '');
  t.equal((await call({ updates: { port: 81 } })).status, 503);
  t.equal(await readFile(file, 'utf8'), TEXT);
  await rm(path.join(app.configDir, 'backups'), { recursive: true });
  t.equal((await call({ updates: { port: 81 } })).status, 200);
});

t.test('a pipe in place of a generated file is replaced without waiting', async t => {
  const root = testDir(t, { own: {}, plugins: { generator: {} } });
  await chmod(root, 0o755);
  const dir = path.join(root, 'own');
  const file = path.join(dir, 'generated.yaml');
  await run('mkfifo', [file]);
  await writeFile(
    path.join(root, 'plugins', 'generator', 'index.mjs'),
    `export default { name: 'generator', host: '^1', needs: ['config-files'], setup (host) {
      host.route({ method: 'POST', path: '/generate', summary: 'writes', async handle () {
        const block = host.use('config.store').findBlock('Service')
        const attributes = { mode: 0o644, owner: null }
        await host.use('config.files').write(block, ${JSON.stringify(file)}, 'a: 1\\n', attributes)
        return {}
      } })
    } }`,
  );
  const app = await startHost({
    pluginDirs: [pluginsDir, path.join(root, 'plugins')],
    config: { service: kid('Service', ['calm'], { config_dir: dir }) },
  });
  t.teardown(() => app.stop());
  t.equal((await app.post('/generate')).status, 200);
  t.equal(await readFile(file, 'utf8'), 'a: 1\n');
  const { ino } = await stat(file);
  t.equal((await app.post('/generate')).status, 200);
  t.equal((await stat(file)).ino, ino, 'the same text is not written again');
});

t.test('a local file is read without a child process, and again after any change', async t => {
  const { file, call } = await open(t);
  const { PATH } = process.env;
  t.teardown(() => Object.assign(process.env, { PATH }));
  process.env.PATH = '/nonexistent';
  t.match(await call(), { status: 200, body: { raw: TEXT } }, 'no program is found');

  const rests = async () => restingVersion(await stat(file)) !== null;
  await until(rests, { what: 'the file to rest' });
  t.match(await call(), { status: 200, body: { config: { port: 80 } } });
  const { atime, mtime } = await stat(file);
  await writeFile(file, TEXT.replace('80', '81'));
  await utimes(file, atime, mtime);
  t.match(await call(), { status: 200, body: { config: { port: 81 } } }, 'the same size and time of modification');
});
