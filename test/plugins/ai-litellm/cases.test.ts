// LiteLLM: chat completions, and where its models run.
import t from 'tap';
import { holdProvider, MESSAGES } from '../../contracts/ai-provider.ts';
import { contributionOf } from '../../support/templates.ts';

const BASE = 'https://proxy.example';

holdProvider(t, await contributionOf('ai-litellm', 'ai.provider'), {
  record: { base_url: BASE, model: 'tiny' },
  bases: [{ stored: `${BASE}/`, base: BASE }],
  refusedBases: ['', 'http://127.0.0.1:11434'],
  chats: [
    {
      sends: { to: `POST ${BASE}/chat/completions`, json: { model: 'tiny', messages: MESSAGES, temperature: 0.2 } },
      answers: { body: { choices: [{ message: { content: 'Four.' } }] } },
      text: 'Four.',
      usage: {},
    },
  ],
  models: [
    {
      sends: { to: `GET ${BASE}/models` },
      answers: {
        body: {
          data: [
            { id: 'llama-3-groq', owned_by: 'openai' },
            { id: 'gpt-4o', owned_by: 'ollama' },
            { id: 'mine', owned_by: 'anthropic' },
            { id: 'other', info: { meta: { base_model_id: 'qwen:7b' } } },
            { id: 'nobody' },
          ],
        },
      },
      models: [
        { name: 'llama-3-groq', source: 'local' },
        { name: 'gpt-4o', source: 'external' },
        { name: 'mine', source: 'external', source_detail: 'anthropic', owned_by: 'anthropic' },
        { name: 'other', source: 'local', source_detail: 'qwen:7b' },
        { name: 'nobody', source: 'unknown', source_detail: undefined },
      ],
    },
  ],
  silent: [{ body: { choices: [{ finish_reason: 'content_filter' }] }, reason: /content_filter/ }],
});
