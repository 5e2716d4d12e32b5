// Settings and profiles of the assistant: what is saved and kept, where keys may be sent, and a third party's provider.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { openReceiver } from '../../contracts/receiver.ts';
import { startHost } from '../../support/host.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const HIDDEN = 'h1dden-key-of-the-owner';
const IMPORTED = 'k3y-of-an-imported-file';
const EIGHTH = `
  host.contribute('ai.provider', host.name, {
    descriptor: {
      value: 'eighth', aliases: ['acht'], tokens: ['number_eight', 'number_8b', 'number_8c'], label: 'Eighth',
      promptBudgetChars: 5000,
      locality: 'local', endpoint: { mode: 'custom' }, key: 'optional', temperature: false,
      defaults: { model: 'usual' }, capabilities: { ai_eighth_wonder: true, ai_provider_profiles: false },
      optionsSchema: { type: 'object', properties: { size: { type: 'integer' } }, additionalProperties: false },
    },
    create: ({ http }) => ({
      mapUsage: raw => raw,
      async chat(target, { messages }) {
        const answer = await http.postJson(target, 'ask', { text: messages.at(-1).content, size: target.options.size },
          { key: target.auth({ header: 'x-eighth' }) });
        return { text: answer.text, rawUsage: { prompt_tokens: 1, completion_tokens: 2, odd: NaN, own: 4 } };
      },
    }),
  });`;
const SECOND = EIGHTH.replaceAll(/eighth|acht|number_\w+/g, 'openai');
const ODD_EVIDENCE = "host.contribute('ai.evidence', 'odd', { coverage: { service: { odd: true } } });";

t.test('settings, profiles and keys are saved', async t => {
  const receiver = await openReceiver(({ body }) => ({ body: { text: `you said ${JSON.parse(body).text}` } }));
  t.teardown(() => receiver.close());
  const app = await startWithPlugins(
    t,
    {
      'ai-eighth': { setup: EIGHTH, more: "needs: ['ai']," },
      'ai-aaa': { setup: SECOND, more: "needs: ['ai']," },
      'odd-evidence': { setup: ODD_EVIDENCE, more: "needs: ['ai']," },
    },
    {
      shipped: ['config', 'process', 'ai', 'ai-openai', 'ai-ollama', 'ai-openai-compatible'],
      config: {
        dumb: {
          ai: {
            provider: 'openai_compatible',
            base_url: 'http://imported.example/v1',
            api_key: IMPORTED,
            timeout_sec: 1_000,
            temperature: 'warm',
            diagnostic_window_hours: -5,
            comparison_mode: 'off',
            active_profile_id: 'gone',
            profiles: [{ id: 'kept', name: 'Kept', provider: 'lost_vendor', max: 1 }, 'no object'],
          },
        },
      },
    },
  );
  const put = (json: object) => app.request('PUT', '/ai/settings', { json });
  const settings = async () => (await app.get('/ai/settings')).body;
  const stored = async () =>
    JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8')).dumb.ai as Record<string, unknown>;

  await t.test('any settings file can be read', async t => {
    t.match(await settings(), {
      enabled: false,
      provider: 'openai_compatible',
      provider_token: 'chat_compatible',
      timeout_sec: 300,
      temperature: 0.2,
      diagnostic_window_hours: 0.25,
      comparison_mode: 'none',
      active_profile_id: '',
      api_key_configured: true,
      model_lifecycle: null,
      profiles: [{ id: 'kept', provider: 'lost_vendor', model_compatibility: null }],
    });
    await until(async () => (await stored()).api_key_origin !== undefined, { what: 'the key is bound to its address' });
    t.match((await stored()).api_key_origin, /^http:\/\/imported\.example [0-9a-f]{16}$/);
  });

  await t.test('values that clients send are normalized and checked', async t => {
    const { body: saved, status } = await put({
      ...(await settings()),
      api_key: null,
      provider: ' OLLAMA ',
      base_url: ` ${receiver.base} `,
      temperature: '0',
      timeout_sec: 5.9,
      include_logs: 'false',
      max_log_chars: '1e9',
      comparison_mode: 'whenever',
    });
    t.equal(status, 200);
    t.match(saved, {
      provider: 'ollama',
      base_url: receiver.base,
      temperature: 0,
      timeout_sec: 5,
      include_logs: false,
      max_log_chars: 200_000,
      comparison_mode: 'previous_period',
      api_key_configured: true,
    });
    const refused: [body: object, status: number, detail: RegExp][] = [
      [{ include_log: false }, 422, /include_log/],
      [{ include_log: null }, 422, /include_log/],
      [{ enabled: 'perhaps' }, 422, /enabled/],
      [{ timeout_sec: 'NaN' }, 422, /timeout_sec/],
      [
        { provider: 'nobody' },
        400,
        /provider is not available: 'nobody'; choose one of eighth, ollama, openai, openai_compatible$/,
      ],
      [{ base_url: 'models.example:80' }, 400, /base_url has no scheme/],
      [{ base_url: 'http:///models.example' }, 400, /base_url cannot be read; give scheme, host and port/],
      [{ base_url: 'http://a:b@models.example' }, 400, /base_url has a user/],
      [{ model: 'a\u0001b' }, 400, /model has control characters/],
      [{ api_key: 'a\r\nx-evil: 1' }, 400, /api_key has control characters/],
      [{ api_key: 'sk-a\u200bb' }, 400, /api_key has signs that no key has, .*; copy the key again/],
      [{ provider_options: { num_ctx: 'all' } }, 400, /provider_options\.num_ctx/],
    ];
    for (const [body, status, detail] of refused) {
      const answer = await put(body);
      t.equal(answer.status, status, JSON.stringify(body));
      t.match(answer.body.detail, detail);
    }
    t.equal((await put({ x: 'y'.repeat(300_000) })).status, 413);
    t.same({ ...(await settings()), overridden: [], warnings: [] }, saved, 'nothing of it was saved');
    t.match((await put({ provider: 'native_b' })).body, {
      detail: undefined,
      provider: 'openai',
      provider_token: 'native_b',
      base_url: 'https://api.openai.com/v1',
    });
    t.match((await put({ base_url: 'http://evil.example' })).body, { base_url: 'https://api.openai.com/v1' });
    t.match((await put({ provider: 'compatible', model: '' })).body, {
      provider: 'compatible',
      provider_token: 'compatible',
      base_url: '',
    });
    t.match((await put({ provider: 'eighth' })).body, { model: 'usual', provider_token: 'number_eight' });
    t.match((await put({ provider: 'number_8b' })).body, { provider: 'acht', provider_token: 'number_8b' });
    t.match((await put({ provider: 'number_8c' })).body, { provider: 'eighth', provider_token: 'number_eight' });
  });

  await t.test('keys stay with the address for which they were entered', async t => {
    await put({ provider: 'eighth', base_url: receiver.base, api_key: HIDDEN, enabled: true });
    const asked = async (json: object = {}) => {
      const answer = await app.post('/ai/test', json);
      return { ...answer, key: receiver.received.at(-1)?.headers['x-eighth'] };
    };
    t.match(await asked({ prompt: 'hello' }), {
      status: 200,
      body: {
        ok: true,
        provider: 'eighth',
        model: 'usual',
        response: 'you said hello',
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, own: 4, odd: undefined, provider: 'eighth' },
      },
      key: HIDDEN,
    });
    t.match(await asked({ provider: 'ACHT' }), { body: { provider: 'acht' }, key: HIDDEN });
    const elsewhere = receiver.base.replace('127.0.0.1', 'localhost');
    t.match(await asked({ base_url: elsewhere }), { status: 200, key: undefined }, 'not to another address');
    t.match(await asked({ base_url: elsewhere, api_key: 'typed' }), { key: 'typed' }, 'but one that was just typed');
    const update = (ai: object) => app.post('/config', { updates: { dumb: { ai } } });
    t.equal((await update({ base_url: elsewhere, api_key: '' })).status, 200);
    t.match(await asked(), { status: 200, key: undefined }, 'nor when the configuration is changed');
    await update({ api_key_origin: `${elsewhere} 0000000000000000` });
    t.match(await asked(), { key: undefined }, 'nor when its address is');
    await update({ base_url: receiver.base });
    t.match(await asked(), { key: HIDDEN }, 'it still belongs where it was entered');
    await update({ base_url: elsewhere, api_key: 'n3w-key' });
    t.match(await asked(), { key: 'n3w-key' }, 'a new one belongs to the new address');
    await put({ base_url: receiver.base });
    t.match(await asked(), { key: undefined }, 'and to no other');
    await put({ api_key: HIDDEN });
    const { body: shown } = await app.get('/config');
    t.match(shown.dumb.ai, { api_key: '', api_key_configured: true, api_key_origin: '' });
    for (const place of ['/config', '/ai/settings', '/ai/providers', '/config/schema'])
      t.notOk((await app.get(place)).text.includes(HIDDEN), place);
    t.match((await put({ api_key: '' })).body, { api_key_configured: false });
    t.notOk(Object.hasOwn(await stored(), 'api_key'), 'a key that is cleared is gone');
    t.equal((await update({ provider: 'nobody' })).status, 400);
    t.match((await update({ profiles: [{ id: 'a', base_url: 'host' }] })).body.detail, /base_url/);
  });

  await t.test('profiles are saved, activated and deleted', async t => {
    await put({ provider: 'eighth', base_url: receiver.base, api_key: HIDDEN });
    const save = (json: object) => app.post('/ai/profiles', json);
    const first = (await save({ name: ' First ', provider: 'eighth', base_url: receiver.base, model: 'one' })).body;
    const id: string = first.active_profile_id;
    t.match(
      first.profiles.at(-1),
      { id, name: 'First', model: 'one', api_key_configured: true },
      'the key comes along',
    );
    t.same(first.profiles[0].id, 'kept', 'in the order in which they were made');
    const second = (await save({ name: 'Second', provider: 'openai', model: 'gpt-5', api_key: '' })).body;
    t.match(second, { provider: 'openai', api_key_configured: false });
    for (const [body, status] of [
      [{ name: 'first', provider: 'openai' }, 400],
      [{ name: ' ', provider: 'openai' }, 400],
      [{ name: 'x'.repeat(81), provider: 'openai' }, 400],
      [{ name: 'Third', provider: 'nobody' }, 400],
      [{ name: 'Third', provider: 'lost_vendor' }, 400],
      [{ provider: 'openai' }, 422],
      [{ name: 'Third', provider: 'openai', id: 'none' }, 404],
    ] as const)
      t.equal((await save(body)).status, status, JSON.stringify(body));
    t.match((await save({ id, name: 'First', provider: 'eighth', model: 'two', api_key: '' })).body, {
      active_profile_id: id,
      model: 'two',
      api_key_configured: true,
    });

    const other: string = second.active_profile_id;
    const activate = (profile: string) => app.post(`/ai/profiles/${encodeURIComponent(profile)}/activate`);
    t.match((await activate(other)).body, { provider: 'openai', model: 'gpt-5', api_key_configured: false });
    t.match((await put({ active_profile_id: id, timeout_sec: 30 })).body, {
      provider: 'eighth',
      model: 'two',
      timeout_sec: 30,
    });
    t.match((await put({ temperature: 1 })).body.profiles, [
      Object,
      { id, temperature: 1 },
      { id: other, temperature: 0.2 },
    ]);
    t.match((await activate('a/b')).body, { detail: /no profile 'a\/b'/ });

    const detached = (await put({ active_profile_id: '', provider: 'eighth', model: 'loose' })).body;
    t.match(detached, { active_profile_id: '', model: 'loose', api_key_configured: true });
    t.match(detached.profiles[1], { model: 'two' }, 'a detached form touches no profile');
    t.match((await put({ active_profile_id: 'none' })).body, { active_profile_id: '' });

    const sent = (await app.get('/config')).body.dumb.ai;
    t.equal((await app.post('/config', { updates: { dumb: { ai: sent } } })).status, 200);
    t.match((await settings()).profiles[1], { api_key_configured: true }, 'blank keys of profiles stay as stored');

    await Promise.all([put({ max_docs_chars: 2_000 }), put({ max_log_scan_mb: 7 }), activate(id)]);
    t.match(await settings(), { max_docs_chars: 2_000, max_log_scan_mb: 7, active_profile_id: id });

    const remove = (profile: string) => app.request('DELETE', `/ai/profiles/${profile}`);
    t.equal((await remove('none')).status, 404);
    t.match((await remove(other)).body, { active_profile_id: id });
    t.match((await remove(id)).body, { active_profile_id: 'kept', provider: 'lost_vendor' });
    t.match((await app.post('/ai/test', { model: 'x' })).body, { detail: /provider is not available: 'lost_vendor'/ });
    t.equal((await put({ include_logs: true })).status, 200, 'a provider that is gone hinders no save');
    t.match((await remove('kept')).body, {
      active_profile_id: '',
      profiles: [],
      provider: 'ollama',
      base_url: 'http://127.0.0.1:11434',
      api_key_configured: false,
      enabled: true,
    });
    for (let number = 1; number <= 20; number += 1) await save({ name: `P${number}`, provider: 'ollama' });
    t.match(await save({ name: 'P21', provider: 'ollama' }), { status: 400, body: { detail: /20 profiles/ } });
  });

  await t.test('providers are listed with their facts', async t => {
    const { providers } = (await app.get('/ai/providers')).body;
    t.match(
      providers.find(({ value }: { value: string }) => value === 'eighth'),
      {
        aliases: ['acht'],
        tokens: ['number_eight', 'number_8b', 'number_8c'],
        available: true,
        model_discovery: false,
        endpoint_mode: 'custom',
      },
    );
    t.match(
      providers.filter(({ value }: { value: string }) => value === 'openai'),
      [
        { label: 'OpenAI', available: true },
        { available: false, reason: "ai-aaa uses the name 'openai' of ai-openai" },
      ],
      'nobody takes the place of one that ships',
    );
    const flags = (await app.get('/process/capabilities')).body;
    t.match(flags, {
      ai_diagnostics: true,
      ai_provider_profiles: true,
      ai_provider_eighth: true,
      ai_provider_ollama: true,
      ai_eighth_wonder: true,
      ai_provider_gemini: undefined,
    });
    const { ai } = (await app.get('/config/schema')).body.properties.dumb.properties;
    for (const { provider } of [ai.properties, ai.properties.profiles.items.properties]) {
      t.ok(provider.enum.includes('eighth') && provider.enum.includes('acht'), 'the schema has the eighth');
      t.notOk(provider.enum.includes('gemini'));
    }
    t.match((await app.post('/ai/models', { provider: 'eighth', base_url: receiver.base })).body, {
      detail: /Eighth cannot list its models/,
    });
    t.match(
      app.host.plugins().find(({ name }) => name === 'odd-evidence'),
      { state: 'failed', reason: /ai\.evidence 'odd' of odd-evidence is not what the point asks for/ },
    );
  });

  await t.test('addresses of metadata services and of the host itself are refused', async t => {
    const asked = (base: string) => app.post('/ai/test', { provider: 'eighth', base_url: base, model: 'x' });
    const refused = [
      'http://169.254.169.254/latest',
      'http://0.0.0.0:80',
      'http://[::]:80',
      'http://[fe80::1]',
      'http://[::ffff:169.254.169.254]',
      'http://[64:ff9b::a9fe:a9fe]',
      'http://[2002:a9fe:a9fe::1]',
      'http://2852039166',
      'http://Metadata.cloud.example',
      'http://instance-data',
      'http://100.100.100.200',
      'http://[fd00:ec2::254]',
      'http://224.0.0.1',
    ];
    for (const base of refused) t.match(await asked(base), { status: 400, body: { detail: /never asked/ } }, base);
    const itself = { status: 400, body: { detail: /leads to this host itself/ } };
    t.match(await asked(app.base), itself, 'where it listens');
    await app.post('/config', { updates: { dumb: { api_service: { port: Number(new URL(receiver.base).port) } } } });
    t.match(await asked(receiver.base), itself, 'where an entry of its own is said to listen');
    t.match(await asked('http://no-such-name.invalid'), {
      status: 502,
      body: { detail: /no-such-name\.invalid cannot be asked \(\w+\)/ },
    });
  });

  await t.test('settings stay as they were when the file cannot be written', async t => {
    const file = path.join(app.configDir, 'stackwarden.json');
    const before = await readFile(file, 'utf8');
    const earlier = await settings();
    await writeFile(file, '{ broken');
    t.match(await put({ timeout_sec: 77 }), { status: 409 });
    t.same(await settings(), earlier);
    await writeFile(file, before);
  });
});

t.test('a save of a value that the environment overrides says so', async t => {
  process.env.DUMB_AI_TIMEOUT_SEC = '90';
  process.env.DUMB_AI_MODEL = 'given';
  t.teardown(() => {
    delete process.env.DUMB_AI_TIMEOUT_SEC;
    delete process.env.DUMB_AI_MODEL;
  });
  const app = await startWithPlugins(t, {}, { shipped: ['config', 'process', 'ai', 'ai-ollama'], config: {} });
  const put = (json: object) => app.request('PUT', '/ai/settings', { json });
  t.match((await put({ enabled: true })).body, { enabled: true, overridden: [], warnings: [] });
  const saved = await put({ timeout_sec: 20, provider: 'ollama' });
  t.match(saved.body, { provider: 'ollama', timeout_sec: 90, overridden: ['dumb.ai.timeout_sec'] });
  t.match(await put(saved.body), { status: 200, body: { overridden: [] } }, 'the answer can be sent as it is');
  const profile = { name: 'Mine', provider: 'ollama', base_url: 'http://127.0.0.1:1', model: 'wanted' };
  const { body } = await app.post('/ai/profiles', profile);
  t.match(body, { overridden: ['dumb.ai.model'], profiles: [{ name: 'Mine' }] });
  t.match(await app.request('POST', `/ai/profiles/${body.active_profile_id}/activate`), {
    body: { overridden: Array },
  });
  t.match((await app.request('DELETE', `/ai/profiles/${body.active_profile_id}`)).body, { overridden: Array });
});

t.test('profiles of the file that are not in use stay there', async t => {
  const profile = (id: string, name: string) => ({ id, name, provider: 'ollama', api_key: `key-of-${name}` });
  const profiles = [...Array.from({ length: 21 }, (_, i) => profile(`id${i}`, `p${i}`)), profile('id1', 'twin')];
  const app = await startHost({
    plugins: ['config', 'process', 'ai', 'ai-ollama'],
    config: { dumb: { ai: { profiles } } },
  });
  t.teardown(() => app.stop());
  const kept = async (): Promise<string[]> => {
    const { dumb } = JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));
    return dumb.ai.profiles.map(({ api_key: key }: { api_key: string }) => key.replace('key-of-', ''));
  };
  const all = profiles.map(({ name }) => name);
  const put = (json: object) => app.request('PUT', '/ai/settings', { json });
  t.equal((await put({ max_log_chars: 2_000 })).body.profiles.length, 20);
  t.same(await kept(), all, 'after a save of something else');
  t.equal((await app.post('/ai/profiles/id2/activate')).status, 200);
  t.equal((await put({ model: 'other' })).status, 200);
  t.same(await kept(), all, 'after a save of one of them');
  const { body } = await app.request('DELETE', '/ai/profiles/id3');
  t.equal(body.profiles.at(-1).name, 'p20', 'the next one takes the place of one that is deleted');
  t.same(
    await kept(),
    all.filter(name => name !== 'p3'),
  );
});
