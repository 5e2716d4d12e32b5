// A request has the configuration read again, and tells what is wrong with it.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';

t.test('what the file says now counts, and what it says wrong is told', async t => {
  const app = await startWithPlugins(t, {}, { shipped: ['config', 'host-reload'], config: { data_root: '/one' } });
  const file = path.join(app.configDir, 'stackwarden.json');
  const content = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...content, data_root: '/two' }));
  const reloaded = await app.post('/host/reload', {});
  t.match(reloaded, { status: 200, body: { status: /read again/, problems: [] } });
  t.equal((await app.get('/config')).body.data_root, '/two');
  await writeFile(file, JSON.stringify({ ...content, data_root: 5 }));
  const { body } = await app.post('/host/reload', {});
  t.match(body.problems, [/data_root/]);
});
