// What JSON does not have. Of numbers such as infinity clients get null, a save of such an answer keeps the number in
// the file, and no body may set one. Other values, as documents of YAML 1.1 have them, are their texts.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { formatOf, parseConfig } from '../../../core/config/load.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';

const FILES = {
  'stackwarden.yaml': `app:
  process_name: App
  command: ['true']
  more: { a: .nan, b: [-.inf, 1e999] } # none
  high: .inf
  last: 1
`,
  'stackwarden.json':
    '{"app": {"process_name": "App", "command": ["true"], "more": {"a": 1e999, "b": [-1e999]}, "high": 1e999, "last": 1}}\n',
};

for (const [name, text] of Object.entries(FILES)) {
  t.test(`${name}: numbers that JSON lacks are null for clients and stay in the file`, async t => {
    const configDir = testDir(t, { [name]: text });
    const app = await startHost({ plugins: ['config', 'process'], configDir });
    t.teardown(() => app.stop());
    const { app: block } = parseConfig(text, name, formatOf(name));
    t.match(block, { more: { a: null }, high: null }, 'the host reads what clients get');
    const { body } = await app.get('/config?process_name=App');
    t.match(body, { more: { a: null }, high: null, last: 1 });
    const save = (updates: object) => app.post('/config', { process_name: 'App', updates, persist: true });
    t.match(await save({ ...body, last: 2 }), { status: 200, body: { changed: ['app.last'] } });
    const file = () => readFile(path.join(configDir, name), 'utf8');
    t.equal(await file(), text.replace(/(?<=last"?: )1/, '2'));
    const merge = (block: unknown) => app.post('/config', { updates: { app: block } });
    t.match(await merge({ ...body, last: 3 }), { status: 200, body: { changed: ['app.last'] } });
    t.equal(await file(), text.replace(/(?<=last"?: )1/, '3'), 'of the whole configuration too');
    for (const [of, number] of [
      ['last', '1e999'],
      ['more', '{"a": [-1e999]}'],
    ]) {
      const refused = await app.request('POST', '/config', {
        body: `{"updates": {"app": {"${of}": ${number}}}}`,
        headers: { 'content-type': 'application/json' },
      });
      t.match(refused, { status: 400, body: { detail: /^app\.(last|more\.a\.0) is not a finite number$/ } });
    }
    t.equal(await file(), text.replace(/(?<=last"?: )1/, '3'));
  });
}

t.test('values of a document of YAML 1.1 are their texts, and stay in the file', async t => {
  const text = `%YAML 1.1
---
app:
  process_name: App
  command: ['true']
  oneshot: yes
  more: { bytes: !!binary aGk=, day: 2024-01-02, set: !!set { a, b }, pairs: !!omap [c: 1] } # theirs
  last: 1
`;
  const configDir = testDir(t, { 'stackwarden.yaml': text });
  const app = await startHost({ plugins: ['config', 'process'], configDir });
  t.teardown(() => app.stop());
  const { body } = await app.get('/config?process_name=App');
  const more = { bytes: 'aGk=', day: '2024-01-02', set: { a: null, b: null }, pairs: [{ c: 1 }] };
  t.match(body, { more, oneshot: true });
  const saved = await app.post('/config', { process_name: 'App', updates: { ...body, last: 2 }, persist: true });
  t.match(saved, { status: 200, body: { changed: ['app.last'] } });
  t.equal(await readFile(path.join(configDir, 'stackwarden.yaml'), 'utf8'), text.replace('last: 1', 'last: 2'));
});
