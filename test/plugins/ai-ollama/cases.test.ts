// Ollama: its own API, and that of chat completions below `/v1`.
import t from 'tap';
import { holdProvider, MESSAGES } from '../../contracts/ai-provider.ts';
import { contributionOf } from '../../support/templates.ts';

const BASE = 'http://127.0.0.1:11434';
const COUNTS = {
  prompt_eval_count: 5,
  eval_count: 6,
  total_duration: 7,
  load_duration: 8,
  prompt_eval_duration: 9,
  eval_duration: 10,
};

holdProvider(t, await contributionOf('ai-ollama', 'ai.provider'), {
  record: { base_url: '', model: 'tiny' },
  bases: [
    { stored: '', base: BASE },
    { stored: `${BASE}/api`, base: BASE },
    { stored: `${BASE}/`, base: BASE },
    { stored: `${BASE}/v1/chat/completions`, base: `${BASE}/v1` },
  ],
  refusedBases: ['127.0.0.1:11434'],
  chats: [
    {
      sends: {
        to: `POST ${BASE}/api/chat`,
        headers: { authorization: 'Bearer k3y-that-nobody-may-learn' },
        json: { model: 'tiny', messages: MESSAGES, stream: false, options: { temperature: 0.2, num_ctx: undefined } },
      },
      answers: { body: { message: { role: 'assistant', content: 'Four.' }, done_reason: 'stop', ...COUNTS } },
      text: 'Four.',
      usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11, ...COUNTS },
    },
    {
      record: { provider_options: { num_ctx: 8_192 } },
      sends: { to: `POST ${BASE}/api/chat`, json: { options: { num_ctx: 8_192 } } },
      answers: { body: { response: 'Four.' } },
      text: 'Four.',
      usage: {},
    },
    {
      record: { base_url: `${BASE}/v1` },
      sends: { to: `POST ${BASE}/v1/chat/completions`, json: { model: 'tiny', messages: MESSAGES, temperature: 0.2 } },
      answers: {
        body: { choices: [{ message: { content: 'Four.' } }], usage: { prompt_tokens: 1, completion_tokens: 2 } },
      },
      text: 'Four.',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
  ],
  models: [
    {
      sends: { to: `GET ${BASE}/api/tags` },
      answers: {
        body: { models: [{ name: 'b', size: 5, modified_at: 'now' }, { model: 'a' }, { name: 'big:cloud' }, {}] },
      },
      models: [
        { name: 'b', size: 5, modified_at: 'now', source: 'local', source_detail: 'ollama' },
        { name: 'a', size: null, modified_at: null, source: 'local' },
        { name: 'big:cloud', source: 'external' },
      ],
    },
    {
      record: { base_url: `${BASE}/v1` },
      sends: { to: `GET ${BASE}/api/tags` },
      answers: { body: { models: [{ name: 'a' }] } },
      models: [{ name: 'a' }],
    },
    {
      record: { base_url: `${BASE}/v1` },
      sends: [{ to: `GET ${BASE}/api/tags` }, { to: `GET ${BASE}/v1/models` }],
      answers: ({ path }) => (path === '/api/tags' ? { status: 404 } : { body: { data: [{ id: 'c' }] } }),
      models: [{ name: 'c' }],
    },
  ],
  silent: [
    { body: { message: { content: '' }, done_reason: 'length' }, reason: /without text \(length\)/ },
    { body: { error: 'no such model' }, reason: /no such model/ },
    { body: { error: `line\nby line ${'x'.repeat(1_000_000)}` }, reason: /without text \(line by line x{100,200}\)/ },
  ],
  refuses: [{ status: 404, body: { error: "model 'tiny' not found" }, error: /\(404\): model 'tiny' not found$/ }],
});
