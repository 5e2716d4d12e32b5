// A request reloads the configuration, and the answer says what is wrong with it.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';

t.test('the present file counts, and its faults are in the answer', async t => {
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

  const ofFile = {
    status: 'The configuration stays as it was, because its file cannot be used; the logs were rotated',
  };
  const problems = [/stackwarden\.json:1:\d+: .*; mend it$/];
  await writeFile(file, '{ "data_root": ');
  for (const round of ['first', 'second']) {
    const { body } = await app.post('/host/reload', {});
    t.match(body, { ...ofFile, problems }, `the ${round} request`);
    t.equal(body.problems.length, 2, 'beside what does not fit in what counts');
  }
  const told = (await ownLog(app)).match(/a change of the configuration file is not used/g) ?? [];
  t.ok(told.length >= 2, 'whoever asks again is told again');
});
