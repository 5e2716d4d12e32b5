// Names that users give: each must be one line of visible text, wherever it is given.
import t from 'tap';
import { PRINTABLE } from '../../../core/kit/printable.ts';
import { startHost } from '../../support/host.ts';

const INVISIBLE = ['', '   ', '\u00a0', '\u200b\u200b\u200b', '\ufeff', '\u3164\u3164', '\u00ad \u2060'];
const BROKEN = ['a\u0007b', 'one\ntwo', 'a\u2028b', 'a\ud800b', '\u0085ab'];
/** They embed, override and isolate a direction, or end that. */
const TURNING = [...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'].flatMap(c => [`a${c}b`, `${c}a`]);
const FINE = [
  'a',
  ' a',
  'Kid <1>',
  'می\u200cخواهم',
  '👨\u200d👩\u200d👧',
  '日本',
  '\u200bx',
  'שלום\u200f (2)',
  'a\u200e',
];

const shown = (name: string) => JSON.stringify(name.slice(0, 20)).replaceAll(/[^\x20-\x7e]/g, '?');

t.test('a name has something to see, on one line', async t => {
  for (const name of [...INVISIBLE, ...BROKEN, ...TURNING]) t.notOk(PRINTABLE.test(name), shown(name));
  for (const name of FINE) t.ok(PRINTABLE.test(name), shown(name));
  for (const end of ['\n', '\u202e']) t.notOk(PRINTABLE.test(`${' x'.repeat(500_000)}${end}`), 'in linear time');
});

t.test('services, groups, destinations, profiles and users have such names only', async t => {
  const app = await startHost({ plugins: ['ai', 'ai-openai', 'auth', 'config', 'groups', 'notifications', 'process'] });
  t.teardown(() => app.stop());
  const calm = { process_name: 'Calm', command: ['sleep', '1'], enabled: false };
  const hook = { id: 'one', provider: 'webhook', url: 'http://127.0.0.1:9/x' };
  const given = (name: string) => ({
    service: app.post('/config', { updates: { calm: { ...calm, process_name: name } } }),
    group: app.post('/config', { updates: { calm: { ...calm, groups: ['good', name] } } }),
    destination: app.post('/notifications/config', { config: { destinations: [{ ...hook, name }] } }),
    profile: app.post('/ai/profiles', { name, provider: 'openai', model: 'x' }),
    user: app.post('/auth/users', { username: name, password: 'correct horse battery' }),
  });
  for (const name of [...INVISIBLE, ...BROKEN, ...TURNING.slice(0, 2), 'n'.repeat(100_000)])
    for (const [kind, answer] of Object.entries(given(name))) {
      const { status, body } = await answer;
      t.ok(status === 400 || status === 422, `${kind} ${shown(name)}: ${status}`);
      t.ok(body.detail.length < 300, `${kind} ${shown(name)}`);
    }
});
