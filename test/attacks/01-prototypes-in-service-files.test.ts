// Names that mean something to JavaScript are names like any other in the files of services.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';

const PLUGINS = [
  'auth',
  'config',
  'process',
  'config-files',
  'format-json',
  'format-xml',
  'format-yaml',
  'format-conf',
  'format-python',
];
const FIRST = { username: 'first', password: 'correct horse' };

const TEXTS: Readonly<Record<string, string>> = {
  'a.ini': '[__proto__]\naccess = public\nenabled = false\n[constructor]\nprototype = x\n',
  'a.conf': '[__proto__]\naccess = public\nisTrusted = true\n',
  'a.json': '{"__proto__": {"access": "public"}, "constructor": {"prototype": {"access": "public"}}}',
  'a.yaml': '__proto__:\n  access: public\nconstructor:\n  prototype:\n    access: public\n',
  'a.py': 'A = {"__proto__": {"access": "public"}}\n',
  'a.xml': '<__proto__><access>public</access><__proto__><access>public</access></__proto__></__proto__>',
};

async function open(t: Test) {
  const dir = testDir(t, TEXTS);
  const names = Object.keys(TEXTS);
  const blocks = names.map((name, index) => [
    `service${index}`,
    { process_name: name, config_dir: dir, config_file: path.join(dir, name) },
  ]);
  const app = await startHost({ plugins: [...PLUGINS, 'services'], config: Object.fromEntries(blocks) });
  t.teardown(() => app.stop());
  const { body } = await app.post('/auth/setup', FIRST);
  const mine = { authorization: `Bearer ${body.access_token}` };
  const send = (name: string, updates?: string | object, mode?: 'replace') =>
    app.post('/config/service-config', { service_name: name, updates, mode }, mine);
  return { app, dir, names, send };
}

t.test('a service file with __proto__, once shown, opens no route and is shown as it is', async t => {
  const { app, names, send } = await open(t);
  for (const name of names) {
    const shown = await send(name);
    t.equal(shown.status, 200, name);
    t.match(shown.text, /"__proto__":\s*\{/, `${name}: a member like any other`);
    t.match(shown.text, /"access":\s*"public"/);
  }
  for (const route of ['/config', '/process/processes', '/host/plugins', '/logs/stream'])
    t.not((await app.get(route)).status, 200, `${route} stays closed`);
  t.equal((await app.get('/config')).status, 401);
  t.equal((await app.post('/config', { process_name: 'a.ini', updates: {} })).status, 401);
  t.equal(({} as { access?: unknown }).access, undefined, 'no other object has it');
});

t.test('an update as text with __proto__ edits that member, and nothing else', async t => {
  const { app, dir, send } = await open(t);
  const updates: Readonly<Record<string, string>> = {
    'a.json': '{"__proto__": {"access": "x", "isAdmin": true}}',
    'a.yaml': '__proto__: {access: x, isAdmin: true}\n',
    'a.xml': '{"__proto__": {"access": "x"}}',
    'a.ini': '[__proto__]\naccess = x\n',
    'a.conf': '[__proto__]\naccess = x\n',
  };
  for (const [name, text] of Object.entries(updates)) {
    t.match(await send(name, text), { status: 200, body: { status: 'updated' } }, name);
    const written = await readFile(path.join(dir, name), 'utf8');
    t.match(written, /access.*x/, `${name}: written`);
    t.match(written, '__proto__');
  }
  t.equal(({} as { isAdmin?: unknown }).isAdmin, undefined);
  t.equal((await app.get('/config')).status, 401);
  await writeFile(path.join(dir, 'a.xml'), '<a>&constructor;</a>');
  t.match(await send('a.xml'), { status: 422, body: { detail: /entity/ } }, 'an entity is no member of an object');
});

t.test('updates as an object keep it beside what they change, and change it by its name', async t => {
  const { app, dir, names, send } = await open(t);
  const withBeside: Readonly<Record<string, string>> = {
    ...TEXTS,
    'a.json': '{"__proto__": {"access": "public"}, "beside": {"port": 1}, "list": [{"__proto__": 1}]}',
    'a.yaml': '__proto__: # why\n  access: public\nbeside:\n  port: 1\nlist:\n  - __proto__: 1\n',
    'a.xml': '<Root><__proto__><access>public</access></__proto__><beside>1</beside></Root>',
    'a.py': 'A = {"__proto__": {"access": "public"}}  # why\nBESIDE = 1\n',
    'a.ini': '[__proto__]\naccess = public\n[beside]\nport = 1\n',
    'a.conf': '[__proto__]\naccess = public\n[beside]\nport = 1\n',
  };
  for (const name of names) {
    const text = withBeside[name] ?? '';
    await writeFile(path.join(dir, name), text);
    const { config } = (await send(name)).body;
    t.match(await send(name, config, 'replace'), { status: 200, body: { changed: 0 } }, `${name}: all of it`);
    t.match(await send(name, JSON.parse(JSON.stringify(config).replace('1', '2'))), { status: 200 }, name);
    t.equal(await readFile(path.join(dir, name), 'utf8'), text.replace('1', '2'), `${name}: what stands beside it`);
    const shown = JSON.stringify((await send(name)).body.config);
    t.match(await send(name, JSON.parse(shown.replace('public', 'x'))), { status: 200, body: { changed: 1 } });
    t.equal(await readFile(path.join(dir, name), 'utf8'), text.replace('1', '2').replace('public', 'x'), name);
  }
  t.match(await send('a.json', JSON.parse('{"new": {"__proto__": {"isAdmin": true}}}')), { status: 200 });
  t.match(await readFile(path.join(dir, 'a.json'), 'utf8'), /"new": \{"__proto__":\{"isAdmin":true/);
  t.equal(({} as { isAdmin?: unknown }).isAdmin, undefined, 'no other object has it');
  t.equal((await app.get('/config')).status, 401);
});
