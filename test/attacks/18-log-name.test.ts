// Line 18: `log_name` is a plain name; one that leads elsewhere is neither saved nor followed.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';

t.test('a log_name with a way in it stays where the logs are', async t => {
  const dir = testDir(t, { log: {}, outside: {} });
  const app = await startHost({
    plugins: ['config', 'logs'],
    config: { dumb: { log_dir: path.join(dir, 'log'), log_name: '../outside/own' } },
  });
  t.teardown(() => app.stop());
  t.match((await app.get('/logs?process_name=DUMB')).body.chunk, /Stackwarden .* starts/);
  t.same(await readdir(path.join(dir, 'outside')), []);
  t.ok((await readdir(path.join(dir, 'log'))).every(name => name.startsWith('DUMB-')));
});

t.test('no log_name that is a way can be saved', async t => {
  const app = await startHost({ plugins: ['config', 'logs'], config: {} });
  t.teardown(() => app.stop());
  for (const name of ['../own', 'a/b', '.hidden', 'a\nb', '']) {
    const { status, body } = await app.post('/config', { updates: { dumb: { log_name: name } }, persist: true });
    t.ok(status >= 400 && status < 500, JSON.stringify(name));
    t.match(JSON.stringify(body), 'log_name');
  }
});
