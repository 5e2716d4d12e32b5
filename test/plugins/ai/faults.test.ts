// A third party's provider that fails at its first use, or returns something invalid: other providers are listed and
// used as before.
import t from 'tap';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';

const provider = (create: string, { endpoint = '', more = '' } = {}) => `host.contribute('ai.provider', host.name, {
  descriptor: {
    value: host.name, label: 'Odd', promptBudgetChars: 5000, locality: 'local', endpoint: { mode: 'custom', ${endpoint} },
    key: 'optional', temperature: false, ${more}
  },
  create: () => { ${create} },
})`;

t.test('a provider that cannot be created fails alone', async t => {
  const more = `needs: ['ai'],`;
  const app = await startWithPlugins(
    t,
    {
      throwing: { setup: provider(`throw new Error('not made')`), more },
      empty: { setup: provider('return null'), more },
      mute: { setup: provider('return { listModels: async () => [] }'), more },
    },
    { shipped: ['config', 'process', 'ai', 'ai-openai'] },
  );
  const { status, body } = await app.get('/ai/providers');
  t.equal(status, 200);
  t.same(
    body.providers.map(({ value }: { value: string }) => value),
    ['openai', 'empty', 'mute', 'throwing'],
  );
  for (const name of ['throwing', 'empty', 'mute']) {
    const answer = await app.post('/ai/models', { provider: name, base_url: 'http://127.0.0.1:1/v1', model: 'x' });
    t.match(
      answer,
      { status: 502, body: { detail: /AI provider plugin failed; the log of the host has the reason/ } },
      name,
    );
    const row = app.host.plugins().find(plugin => plugin.name === name);
    t.match(row, { state: 'ready', errors: { contribution: Number } });
  }
  t.match(
    app.host.plugins().find(({ name }) => name === 'ai'),
    { errors: {} },
  );
  t.match(await ownLog(app), /the AI provider throwing failed: not made/);
});

const ODD = `
  const given = {
    nothing: undefined, null: null, text: 'ok', number: { text: 5 }, counts: { text: 'ok' },
    silent: { text: '', finishReason: {} },
  };
  const listed = { nothing: undefined, null: [null, 5, { name: {} }, { name: 'one' }], text: 'ok', number: {} };
  return {
    chat: async ({ model }) => given[model],
    listModels: async ({ model }) => listed[model],
    mapUsage: () => { throw new Error('no counts') },
  };`;

t.test('an invalid answer of a provider is a fault of its plugin', async t => {
  const app = await startWithPlugins(
    t,
    { odd: { setup: provider(ODD), more: `needs: ['ai'],` } },
    { shipped: ['config', 'process', 'ai'] },
  );
  const asked = (path: string, model: string) =>
    app.post(path, { provider: 'odd', base_url: 'http://127.0.0.1:1/v1', model });
  const failed = { status: 502, body: { detail: /^AI provider plugin failed; the log of the host has the reason$/ } };
  for (const model of ['nothing', 'null', 'text', 'number', 'counts'])
    t.match(await asked('/ai/test', model), failed, model);
  t.match(await asked('/ai/test', 'silent'), { status: 502, body: { detail: /answered without text;/ } });
  t.match((await asked('/ai/models', 'nothing')).body, { models: [] });
  t.match((await asked('/ai/models', 'null')).body, { models: [{ name: 'one' }] });
  for (const model of ['text', 'number']) t.match(await asked('/ai/models', model), failed, model);
  t.match(
    app.host.plugins().find(({ name }) => name === 'ai'),
    { errors: {} },
  );
});

t.test('a provider whose descriptor fails does not affect others', async t => {
  const create = `return { chat: async () => ({ text: 'ok' }) }`;
  const more = `needs: ['ai'],`;
  const made = (options: { endpoint?: string; more?: string }) => ({ setup: provider(create, options), more });
  const app = await startWithPlugins(
    t,
    {
      unfit: made({ more: `compatibility() { throw new Error('no fit') },` }),
      late: made({ more: `async compatibility() { return null },` }),
      number: made({ more: 'compatibility: () => 5,' }),
      lost: made({ endpoint: `normalize() { throw new Error('no base') },` }),
      text: made({ endpoint: `normalize: () => 'http://127.0.0.1:1',` }),
      nonsense: made({ more: `optionsSchema: { type: 'nonsense' },` }),
    },
    { shipped: ['config', 'process', 'ai'] },
  );
  const base_url = 'http://127.0.0.1:1/v1';
  for (const name of ['unfit', 'late', 'number']) {
    t.equal((await app.post('/ai/test', { provider: name, base_url, model: 'x' })).body.response, 'ok', name);
    const saved = await app.request('PUT', '/ai/settings', { json: { provider: name, base_url, model: 'x' } });
    t.match(saved, { status: 200, body: { provider: name, model_compatibility: null } }, name);
    t.equal((await app.get('/ai/settings')).status, 200);
  }
  const failed = [
    ['lost', /^AI provider plugin failed; /],
    ['text', /^AI provider plugin failed; /],
    ['nonsense', /^The plugin of Odd describes its options so that they cannot be read: .*nonsense; choose another/],
  ] as const;
  for (const [name, detail] of failed)
    t.match(
      await app.post('/ai/test', { provider: name, base_url, model: 'x' }),
      { status: 502, body: { detail } },
      name,
    );
  for (const name of ['lost', 'text']) {
    const json = { provider: name, base_url, model: 'x', api_key: 'k3y' };
    t.equal((await app.request('PUT', '/ai/settings', { json })).status, 200, name);
  }
  t.match(
    app.host.plugins().find(({ name }) => name === 'ai'),
    { errors: {} },
  );
  t.match(await ownLog(app), /the AI provider unfit cannot tell of its models: no fit/);
});
