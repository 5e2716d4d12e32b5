// Concurrent saves, and unfit values that are replaced by other unfit values.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { openWith, sleeper } from '../../support/configured.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { DISK_ONLY, makeDisk } from '../../support/power-loss.ts';

const SAVES = 20;

t.test('concurrent saves do not undo each other', async t => {
  const { app, file } = await openWith(t, { kid: sleeper('Kid', { enabled: false }) }, ['config', 'process']);
  const names = Array.from({ length: SAVES }, (_none, index) => `N${index}`);
  const answers = await Promise.all(
    names.map(name => app.post('/config', { updates: { kid: { env: { [name]: name } } }, persist: true })),
  );
  t.same([...new Set(answers.map(({ status }) => status))], [200]);
  const expected = Object.fromEntries(names.map(name => [name, name]));
  t.same(JSON.parse(await readFile(file, 'utf8')).kid.env, expected);
  t.same((await app.get('/config?process_name=Kid')).body.env, expected);
});

t.test('an unfit value in the file can only be replaced by a fit one', async t => {
  const kid = sleeper('Kid', { enabled: false, port: 'first' });
  const { app, file } = await openWith(t, { kid }, ['config', 'process']);
  const before = await readFile(file, 'utf8');
  const update = (port: unknown) => app.post('/config', { updates: { kid: { port } }, persist: true });
  t.match(await update('second'), { status: 400, body: { detail: /kid\.port/ } });
  t.equal(await readFile(file, 'utf8'), before);
  t.equal((await update(8_080)).status, 200);
  t.equal(JSON.parse(await readFile(file, 'utf8')).kid.port, 8_080);
});

t.test('a save survives a loss of power', DISK_ONLY, async t => {
  const place = path.join(testDir(t), 'disk');
  const disk = makeDisk(t, place);
  const app = await startHost({ plugins: ['config'], configDir: place, config: { tz: 'first' } });
  t.teardown(() => app.stop());
  t.equal((await app.post('/config', { updates: { tz: 'second' }, persist: true })).status, 200);
  const text = await disk.lost(found => readFile(path.join(found, 'stackwarden.json'), 'utf8'));
  t.equal(JSON.parse(text).tz, 'second');
});
