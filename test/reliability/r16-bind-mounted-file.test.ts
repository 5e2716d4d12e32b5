// R16: the configuration is a single bind-mounted file, which nothing can be renamed over.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { startHost } from '../support/host.ts';

const PLUGINS = ['config'];

const run = promisify(execFile);
const skip = process.getuid?.() === 0 ? false : 'only root may mount';

t.test('saved in place, with a copy of what was there', { skip }, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const outside = path.join(dir, 'outside.json');
  const configDir = path.join(dir, 'config');
  const file = path.join(configDir, 'stackwarden.json');
  const text =
    '{\n    // kept\n    "dumb": { "log_count": 3, "gateway": { "enabled": false } },\n    "tz": "a long name of a zone"\n}\n';
  await mkdir(configDir);
  await writeFile(file, '');
  await writeFile(outside, text);
  await run('mount', ['--bind', outside, file]);
  const app = await startHost({ plugins: PLUGINS, configDir });
  t.teardown(async () => {
    await app.stop();
    await run('umount', ['--lazy', file]);
    await rm(dir, { recursive: true });
  });
  t.equal((await app.post('/config', { updates: { tz: 'UTC' }, persist: true })).status, 200);
  t.equal(
    await readFile(outside, 'utf8'),
    text.replace('a long name of a zone', 'UTC'),
    'shorter than before, and whole',
  );
  t.equal(await readFile(`${file}.bak`, 'utf8'), text);
  const second = await readFile(outside, 'utf8');
  t.equal((await app.post('/config', { updates: { tz: 'Europe/Berlin' }, persist: true })).status, 200);
  t.equal(await readFile(`${file}.bak`, 'utf8'), second, 'of what this save has replaced');
  t.match(await readFile(outside, 'utf8'), '"tz": "Europe/Berlin"');
  t.same(
    (await readdir(configDir)).filter(name => /\d{4,}$/.test(name)),
    [],
    'no temporary file is left',
  );
});

t.test('a disk without room for the new text keeps the old one', { skip }, async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const [small, configDir] = [path.join(dir, 'small'), path.join(dir, 'config')];
  const [outside, file] = [path.join(small, 'outside.json'), path.join(configDir, 'stackwarden.json')];
  await Promise.all([small, configDir].map(directory => mkdir(directory)));
  await run('mount', ['-t', 'tmpfs', '-o', 'size=8k', 'tmpfs', small]);
  const text = '{ "dumb": { "gateway": { "enabled": false } }, "tz": "UTC" }\n';
  await Promise.all([writeFile(outside, text), writeFile(file, '')]);
  await run('mount', ['--bind', outside, file]);
  const app = await startHost({ plugins: PLUGINS, configDir });
  t.teardown(async () => {
    await app.stop();
    await run('umount', ['--lazy', file]);
    await run('umount', ['--lazy', small]);
    await rm(dir, { recursive: true });
  });
  const updates = { dumb: { note: 'x'.repeat(20_000) } };
  const refused = await app.post('/config', { updates, persist: true });
  t.match(refused, { status: 503, body: { detail: /the disk is full/ } });
  t.equal(await readFile(outside, 'utf8'), text);
  t.equal((await app.get('/config')).body.dumb.note, undefined);
});
