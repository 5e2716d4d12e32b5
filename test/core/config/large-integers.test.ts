// Integers that lose digits as JavaScript numbers: no body may set one, and those in a file keep all their digits when
// another value is saved.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { kid } from '../../support/kids.ts';

/** JavaScript reads this as 9007199254740992. */
const ID = '9007199254740993';
const BEYOND = 'integers beyond 9007199254740991 lose digits on their way; send it as text, or edit the file by hand';

const send = (app: TestHost, place: string, body: string) =>
  app.request('POST', place, { body, headers: { 'content-type': 'application/json' } });

for (const [name, text] of Object.entries({
  'stackwarden.json': `{"app": {"process_name": "App", "command": ["true"], "more": {"id": ${ID}, "ids": [1, ${ID}]}, "last": 1}}\n`,
  'stackwarden.yaml': `app:\n  process_name: App\n  command: ['true']\n  more: { id: ${ID}, ids: [1, ${ID}] }\n  last: 1\n`,
})) {
  t.test(`${name}: large integers keep their digits`, async t => {
    const configDir = testDir(t, { [name]: text });
    const app = await startHost({ plugins: ['config', 'process'], configDir });
    t.teardown(() => app.stop());
    const { body } = await app.get('/config?process_name=App');
    const saved = await app.post('/config', { updates: { app: { ...body, last: 2 } } });
    t.match(saved, { status: 200, body: { changed: ['app.last'] } });
    const longer = { ...body.more, ids: [0, ...body.more.ids] };
    const more = { process_name: 'App', persist: true, updates: { more: longer } };
    t.match(await app.post('/config', more), { status: 200, body: { changed: ['app.more.ids'] } });
    const file = () => readFile(path.join(configDir, name), 'utf8');
    const kept = await file();
    t.equal(kept.split(ID).length, 3, 'both keep their digits', { kept });
    for (const [updates, at] of [
      [`{"app": {"last": ${ID.replace('993', '995')}}}`, 'app.last'],
      ['{"app": {"more": {"ids": [1, -12345678901234567890]}}}', 'app.more.ids.1'],
    ] as const)
      for (const persist of [true, false])
        t.match(await send(app, '/config', `{"persist": ${persist}, "updates": ${updates}}`), {
          status: 422,
          body: { detail: `${at}: ${BEYOND}`, errors: [{ loc: ['body', 'updates', ...at.split('.')], msg: BEYOND }] },
        });
    t.equal(await file(), kept);
  });
}

t.test('large integers in files of services keep their digits', async t => {
  const dir = testDir(t, { 'a.json': '', 'a.yaml': '' });
  const texts: Readonly<Record<string, string>> = {
    'a.json': `{"id": ${ID}, "ids": [{"id": ${ID}}], "last": 1}\n`,
    'a.yaml': `id: ${ID}\nids:\n  - id: ${ID}\nlast: 1\n`,
  };
  const blocks = Object.keys(texts).map((name, at) => [
    `app_${at}`,
    kid(name, ['calm'], { config_dir: dir, config_file: path.join(dir, name) }),
  ]);
  const plugins = ['config', 'process', 'config-files', 'format-json', 'format-yaml'];
  const app = await startHost({ plugins, config: Object.fromEntries(blocks) });
  t.teardown(() => app.stop());
  for (const [name, text] of Object.entries(texts)) {
    const file = path.join(dir, name);
    await writeFile(file, text);
    const read = await app.post('/config/service-config', { service_name: name });
    const updates = { ...read.body.config, last: 2 };
    t.equal((await app.post('/config/service-config', { service_name: name, updates })).status, 200);
    t.equal(await readFile(file, 'utf8'), text.replace(/(?<=last"?: )1/, '2'), 'what a client sends back');
    const sent = `{"service_name": "${name}", "updates": {"ids": [{"id": ${ID.replace('993', '995')}}]}}`;
    t.match(await send(app, '/config/service-config', sent), {
      status: 422,
      body: { detail: `ids.0.id: ${BEYOND}` },
    });
    t.equal(await readFile(file, 'utf8'), text.replace(/(?<=last"?: )1/, '2'));
  }
});
