// A value from the environment stays out of the file, however the object around it is saved.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { openWith, sleeper, type Values } from '../../support/configured.ts';
import type { TestHost } from '../../support/host.ts';

const SECRET = 'from-the-environment';
const fileOf = (app: TestHost) => path.join(app.configDir, 'stackwarden.json');
const stored = async (app: TestHost): Promise<Values> => JSON.parse(await readFile(fileOf(app), 'utf8'));

t.test('a value of the environment is saved neither alone nor with what is around it', async t => {
  const { app } = await openWith(
    t,
    {
      kid: sleeper('Kid', {
        enabled: false,
        env: { API_TOKEN: 'in the file', PLAIN: 'x', deep: 'y' },
        empty: {},
        list: ['a'],
        items: [{ url: 'http://a', deep: [{ key: 'x' }] }],
        nested: { deeper: { token: '', other: 1 } },
      }),
    },
    ['config', 'process', 'onboarding'],
    {
      KID_ENV_API_TOKEN: SECRET,
      KID_NESTED_DEEPER_TOKEN: SECRET,
      KID_EMPTY: JSON.stringify({ password: SECRET }),
      KID_LIST: JSON.stringify([SECRET, 'b']),
      KID_ITEMS: JSON.stringify([{ url: `http://${SECRET}`, deep: [{ key: SECRET }], count: 1 }]),
    },
  );
  const before = await readFile(fileOf(app), 'utf8');
  const shown = async () => (await app.get('/config?process_name=Kid')).body;
  const block = await shown();
  t.match(block, {
    env: { API_TOKEN: SECRET },
    nested: { deeper: { token: SECRET } },
    empty: { password: SECRET },
    list: [SECRET, 'b'],
  });
  const save = (updates: Values, processName?: string) =>
    app.post('/config', {
      ...(processName === undefined ? {} : { process_name: processName, persist: true }),
      updates,
    });

  t.match(await save(block, 'Kid'), { status: 200, body: { changed: [], overridden: [] } });
  t.match(await save({ kid: block }), { status: 200, body: { changed: [] } });
  t.equal(await readFile(fileOf(app), 'utf8'), before, 'what is sent back as it was shown changes no byte');

  const changed = {
    ...block,
    env: { ...block.env, PLAIN: 'changed' },
    nested: { deeper: { ...block.nested.deeper, other: 2 } },
    empty: { ...block.empty, added: 1 },
    list: [...block.list, 'c'],
    items: [{ ...block.items[0], count: 2 }],
  };
  for (const [updates, name] of [
    [changed, 'Kid'],
    [{ kid: changed }, undefined],
    [{ ...changed, env: { ...changed.env, NEW: '1' } }, 'Kid'],
  ] as const) {
    const answer = await save(updates, name);
    for (const member of ['list', 'items'])
      t.ok(answer.body.warnings.includes(`kid.${member} comes from KID_${member.toUpperCase()}; change it there`));
    t.notMatch(await readFile(fileOf(app), 'utf8'), SECRET);
  }
  t.same((await stored(app)).kid, {
    ...(JSON.parse(before).kid as Values),
    env: { API_TOKEN: 'in the file', PLAIN: 'changed', deep: 'y', NEW: '1' },
    empty: { added: 1 },
    nested: { deeper: { token: '', other: 2 } },
  });
  t.match(await shown(), {
    empty: { password: SECRET, added: 1 },
    list: [SECRET, 'b'],
    nested: { deeper: { token: SECRET } },
  });

  for (const items of [[{ deep: [{ key: SECRET, more: 1 }] }], [{ url: 'mine' }, { url: `http://${SECRET}` }]])
    t.match(await save({ items }, 'Kid'), { body: { overridden: [] } }, 'nor is a part of an item');
  t.match(await save({ items: [{ url: 'mine' }] }, 'Kid'), { body: { overridden: ['kid.items'] } });
  t.same(((await stored(app)).kid as Values).items, [{ url: 'mine' }], 'a list of a user is saved');

  t.equal((await app.post('/config', { process_name: 'Kid', updates: await shown() })).status, 200, 'in memory');
  t.equal((await save({ ...(await shown()), log_level: 'DEBUG' }, 'Kid')).status, 200, 'and then on disk');
  t.equal((await app.post('/config/onboarding-completed')).status, 200);
  t.notMatch(await readFile(fileOf(app), 'utf8'), SECRET);
});

t.test('an object of which only the environment holds a part can be written for the first time', async t => {
  const { app } = await openWith(
    t,
    { kid: sleeper('Kid', { enabled: false, env: { TOKEN: '' } }) },
    ['config', 'process'],
    {
      KID_ENV_TOKEN: SECRET,
    },
  );
  const { env } = (await app.get('/config?process_name=Kid')).body;
  await app.post('/config', { process_name: 'Kid', updates: { env: { ...env, MORE: '1' } }, persist: true });
  t.same(((await stored(app)).kid as Values).env, { TOKEN: '', MORE: '1' });
  await app.post('/config', { process_name: 'Kid', updates: { env: { TOKEN: 'mine' } }, persist: true });
  t.same(((await stored(app)).kid as Values).env, { TOKEN: 'mine' }, 'what a user sets is saved');
});

t.test('what the environment goes on to override is told, and nothing else', async t => {
  const twins = { instances: { One: sleeper('Twin One', { enabled: false, note: 'mine' }) } };
  const { app } = await openWith(
    t,
    { kid: sleeper('Kid', { enabled: false, empty: {} }), twins },
    ['config', 'process'],
    { KID_EMPTY: JSON.stringify({ a: 'given' }), TWINS_INSTANCES_ONE_NOTE: 'given' },
  );
  const saved = (updates: Values) => app.post('/config', { updates });
  const member = await saved({ kid: { empty: { a: 'mine', b: 1 } } });
  t.match(member.body, { changed: ['kid.empty.b'], overridden: ['kid.empty.a'] }, 'a member of what is given whole');
  t.match((await app.get('/config?process_name=Kid')).body, { empty: { a: 'given', b: 1 } });
  const removed = await saved({ twins: { instances: { One: null } } });
  t.same(removed.body.overridden, [], 'what is gone is overridden by nothing');
});

t.test('a block that moves to its present name leaves values of the environment behind', async t => {
  const nzbdav = { process_name: 'Former', token: 'in the file', other: 1 };
  const plugins = ['config', 'process', 'services', 'config-migrations'];
  const { app } = await openWith(t, { nzbdav }, plugins, { NZBDAV_TOKEN: SECRET });
  const { nzbdav: former, infinidysk } = await stored(app);
  t.equal(former, undefined);
  t.same(infinidysk, nzbdav, 'what the file held has moved');
  t.equal((await app.get('/config?process_name=Former')).body.token, SECRET, 'and the environment still wins');
});

t.test('a secret of the environment stays out of the file also where a copy of its block is saved', async t => {
  const withSecrets = (name: string) =>
    sleeper(name, { enabled: false, password: 'in the file', note: 'mine', tokens: [], env: { LEVEL: '' } });
  const { app } = await openWith(
    t,
    {
      alpha: withSecrets('Alpha'),
      twins: { instances: { One: withSecrets('Twin One'), Two: withSecrets('Twin Two') } },
    },
    ['config', 'process'],
    {
      ALPHA_PASSWORD: SECRET,
      ALPHA_NOTE: 'theirs',
      ALPHA_TOKENS: JSON.stringify([`${SECRET}-in-a-list`]),
      TWINS_INSTANCES_ONE_PASSWORD: `${SECRET}-of-one`,
    },
  );
  const { alpha, twins } = (await app.get('/config')).body;
  const beta = { ...alpha, process_name: 'Beta', log_file: 'beta.log' };
  const warnings = [
    'beta.password comes from ALPHA_PASSWORD, so it is in memory alone; set BETA_PASSWORD for the next start',
    'beta.tokens comes from ALPHA_TOKENS, so it is in memory alone; set BETA_TOKENS for the next start',
  ];
  t.match(await app.post('/config', { updates: { beta } }), { status: 200, body: { persisted: true, warnings } });
  const copied = { password: 'in the file', note: 'theirs', tokens: [] };
  t.match((await stored(app)).beta, copied, 'the copy has what the file says of the block');
  t.match((await app.get('/config')).body.beta, beta, 'and is what was sent until the next start');
  t.match(await app.post('/config', { process_name: 'Beta', persist: true, updates: beta }), { status: 200 });
  t.match((await app.get('/config')).body.beta, beta);

  const { One, Two } = twins.instances;
  const renamed = await app.post('/config', { updates: { twins: { instances: { One: null, Three: One } } } });
  t.match(renamed, { status: 200, body: { warnings: [/^twins\.instances\.Three\.password comes from/] } });
  t.match((await stored(app)).twins, { instances: { Three: { password: 'in the file' } } });
  t.match((await app.get('/config')).body.twins.instances, { Three: One });

  t.equal((await app.post('/config', { updates: { gamma: { ...Two, process_name: 'Gamma' } } })).status, 200);
  t.match((await stored(app)).gamma, { password: 'in the file' });
  t.notMatch(await readFile(fileOf(app), 'utf8'), SECRET);
  const own = { beta: { password: 'of its own', env: { LEVEL: SECRET } } };
  t.match(await app.post('/config', { updates: own }), {
    status: 200,
    body: { warnings: [/^nothing reads beta.password/] },
  });
  t.match((await stored(app)).beta, own.beta, 'what is no secret of its own may be like one');
  const chosen = await app.post('/config', { updates: { gamma: { password: SECRET } } });
  t.match(chosen, { status: 200, body: { persisted: true, warnings: [/^nothing reads gamma.password/] } });
  t.match(
    (await stored(app)).gamma,
    { password: SECRET },
    'and so may what somebody chooses for a block that is there',
  );
});
