// A profile that is saved while a save of the whole list of profiles is being checked: neither undoes the other.
import t from 'tap';
import { HELD_SAVE } from '../../support/held-save.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

t.test('profiles that are saved in two ways at once', async t => {
  const app = await startWithPlugins(t, { slow: HELD_SAVE }, { shipped: ['config', 'ai', 'ai-ollama'] });
  const profile = { provider: 'ollama', base_url: 'http://127.0.0.1:11434', model: 'm' };
  const whole = app.post('/config', { updates: { dumb: { ai: { profiles: [{ ...profile, id: 'a', name: 'A' }] } } } });
  await app.get('/fixture/saves');
  const one = app.post('/ai/profiles', { ...profile, name: 'B' });
  await app.post('/fixture/release', {});
  t.equal((await whole).status, 200);
  t.equal((await one).status, 200);
  const { profiles } = (await app.get('/config')).body.dumb.ai;
  t.same(
    profiles.map(({ name }: { name: string }) => name),
    ['A', 'B'],
  );
});
