// Anthropic: its messages, its headers and its models.
import t from 'tap';
import { holdProvider } from '../../contracts/ai-provider.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'https://api.anthropic.com/v1';
const headers = {
  'x-api-key': 'k3y-that-nobody-may-learn',
  'anthropic-version': '2023-06-01',
  authorization: undefined,
};

holdProvider(t, await contributionOf('ai-anthropic', 'ai.provider'), {
  record: { base_url: '', model: 'claude-9' },
  chats: [
    {
      sends: {
        to: `POST ${API}/messages`,
        headers,
        json: {
          model: 'claude-9',
          max_tokens: 777,
          system: 'You are brief.',
          messages: [
            { role: 'user', content: 'One?' },
            { role: 'assistant', content: 'Two.' },
            { role: 'user', content: 'Three?' },
          ],
          temperature: undefined,
        },
      },
      answers: {
        body: {
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'Four.' },
          ],
          stop_reason: 'end_turn',
          usage: { input_tokens: 1, output_tokens: 2 },
        },
      },
      text: 'Four.',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
  ],
  models: [
    {
      sends: { to: `GET ${API}/models?limit=1000`, headers },
      answers: {
        body: { data: [{ id: 'claude-9', display_name: 'Nine', created_at: 'x' }, { id: 'claude-3-opus-20240229' }] },
      },
      models: [
        { name: 'claude-3-opus-20240229', lifecycle: { status: 'retired', provider: 'anthropic' } },
        { name: 'claude-9', display_name: 'Nine', created_at: 'x', source: 'external', source_detail: 'anthropic' },
      ],
    },
  ],
  silent: [{ body: { content: [], stop_reason: 'max_tokens' }, reason: /without text \(max_tokens\)/ }],
  refuses: [
    {
      status: 429,
      body: { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } },
      error: /\(429\): Slow down$/,
    },
  ],
  refusedModels: [{ model: 'claude-2.1', error: /was shut down on 2025-07-21; choose claude-opus-4-8$/ }],
});
