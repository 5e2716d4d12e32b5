// Lists of secrets that clients send back with masks.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { openWith, sleeper } from '../../support/configured.ts';

const MASK = '********';

t.test('each masked secret of a list keeps its own value', async t => {
  const kid = sleeper('Kid', { enabled: false, api_keys: ['one', 'two'] });
  const { app, file } = await openWith(t, { kid }, ['config', 'process']);
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: true } } }, persist: false });
  const { api_keys: shown } = (await app.get('/config?process_name=Kid')).body;
  t.same(shown, [MASK, MASK]);
  const save = async (keys: readonly string[]) => {
    t.equal((await app.post('/config', { updates: { kid: { api_keys: keys } }, persist: true })).status, 200);
    return JSON.parse(await readFile(file, 'utf8')).kid.api_keys;
  };
  t.same(await save(shown), ['one', 'two']);
  t.same(await save([...shown, 'three']), ['one', 'two', 'three']);
});
