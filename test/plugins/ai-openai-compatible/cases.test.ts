// Services that speak the protocol of chat completions: addresses, answers and lists.
import t from 'tap';
import { holdProvider, MESSAGES } from '../../contracts/ai-provider.ts';
import { contributionOf } from '../../support/templates.ts';

const BASE = 'http://models.example:8080/v1';
const usage = { prompt_tokens: 3, completion_tokens: 4 };

holdProvider(t, await contributionOf('ai-openai-compatible', 'ai.provider'), {
  record: { base_url: BASE, model: 'tiny', temperature: 0.5 },
  bases: [
    { stored: BASE, base: BASE },
    { stored: `${BASE}/`, base: BASE },
    { stored: `${BASE}/chat/completions`, base: BASE },
    { stored: `${BASE}/models/`, base: BASE },
    { stored: 'https://models.example', base: 'https://models.example' },
    { stored: 'http://[fd00::1]:9/v1', base: 'http://[fd00::1]:9/v1' },
  ],
  refusedBases: [
    '',
    'http://127.0.0.1:11434',
    'models.example:8080',
    'ftp://models.example',
    'javascript:alert(1)',
    'http://user:word@models.example',
    'http://models.example?key=1',
    'http://models.example#part',
    'http://models.example\\@elsewhere.example',
    'http://models.example:0',
    'http://models.example:99999',
    'http://',
    `http://models.example/${'x'.repeat(2_100)}`,
  ],
  chats: [
    {
      sends: {
        to: `POST ${BASE}/chat/completions`,
        headers: { authorization: 'Bearer k3y-that-nobody-may-learn', accept: 'application/json' },
        json: { model: 'tiny', messages: MESSAGES, temperature: 0.5, max_tokens: undefined, stream: undefined },
      },
      answers: { body: { choices: [{ message: { content: 'Four.' }, finish_reason: 'stop' }], usage } },
      text: 'Four.',
      usage: { ...usage, total_tokens: 7 },
    },
    {
      record: { provider_options: { max_tokens: 9 }, api_key: '' },
      sends: {
        to: `POST ${BASE}/chat/completions`,
        headers: { authorization: undefined },
        json: { max_tokens: 9 },
      },
      answers: {
        body: {
          choices: [
            { message: { content: [{ type: 'text', text: 'Fo' }, { type: 'image' }, { type: 'text', text: 'ur' }] } },
          ],
          usage: { total_tokens: 8, prompt_tokens: 'many' },
        },
      },
      text: 'Four',
      usage: { total_tokens: 8 },
    },
    {
      sends: { to: `POST ${BASE}/chat/completions` },
      answers: { body: { choices: [{ text: 'plain' }] } },
      text: 'plain',
      usage: {},
    },
  ],
  models: [
    {
      sends: { to: `GET ${BASE}/models`, headers: { authorization: 'Bearer k3y-that-nobody-may-learn' } },
      answers: {
        body: {
          data: [
            { id: 'b', owned_by: 'me', lifecycle: { status: 'deprecated' }, compatibility: { status: 'supported' } },
            { id: 'a', lifecycle: 'soon' },
            { id: 'b' },
            { object: 'model' },
            'text',
          ],
        },
      },
      models: [
        { name: 'b', owned_by: 'me', lifecycle: { status: 'deprecated' }, compatibility: { status: 'supported' } },
        { name: 'a', owned_by: null, lifecycle: undefined },
      ],
    },
    { sends: { to: `GET ${BASE}/models` }, answers: { body: {} }, models: [] },
  ],
  silent: [
    { body: { choices: [{ message: { content: '' }, finish_reason: 'length' }] }, reason: /without text \(length\)/ },
    { body: { choices: [] }, reason: /without text/ },
    { body: { error: { message: 'no credits', code: 402 } }, reason: /without text \(no credits\)/ },
  ],
  refuses: [
    { status: 400, body: { detail: { message: 'too long' } }, error: /\(400\): too long$/ },
    { status: 422, body: { detail: [{ msg: 'x' }] }, error: /\(422\): / },
  ],
});
